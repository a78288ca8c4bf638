"""Diagnostics about a core's stack and static data, from its facts and its measures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.elf.inputs import InputObject, Part, defining
from aiecc.elf.program import largest_note
from aiecc.model import runs
from aiecc.model.design import CoreFacts, DeviceFacts
from aiecc.model.measure import Frame, StackMeasure, StackSource

_DECLARATION = "the affected kernel's external_func()/func.func declaration (Kernel(...)/ExternalFunction(...) in IRON)"
_KERNEL_DECLARATION = "the kernel's external_func()/func.func declaration (Kernel(...)/ExternalFunction(...) in IRON)"
_I32_MAX = 0x7FFFFFFF


def check_overrides(device: DeviceFacts) -> list[Diagnostic]:
    """A negative `stack_size_override` is refused before anything is built."""
    return [
        Diagnostic(
            Level.ERROR,
            f"'func.func' op stack_size_override must be >= 0, got {f.stack_size_override}",
            f.where,
            "E0203",
        )
        for f in device.functions
        if f.stack_size_override is not None and f.stack_size_override < 0
    ]


def measured_stack_size(measure: StackMeasure) -> int | None:
    """The value for `measured_stack_size`: only an exact one that fits the attribute."""
    exact = measure.source is StackSource.MEASURED and measure.size <= _I32_MAX
    return measure.size if exact else None


def check_stack(
    core: CoreFacts,
    measure: StackMeasure,
    *,
    default: int,
    assumed: bool = False,
    alignment: int = 1,
    kernels: Collection[str] = (),
    objects: Sequence[InputObject] = (),
) -> list[Diagnostic]:
    """Compare a core's stack requirement with what is reserved for it.

    `default`: bytes of a core that declares none. `assumed`: what the core has comes from `--default-stack-size`.
    `alignment`: the stack ABI's, for the value to set. `kernels`: functions the design declares, where an override
    can go. `objects`: what was linked, to say where missing frame data belongs.
    """
    where = core.where
    if measure.source is StackSource.UNBOUNDED:
        return [_recursion(core, measure, kernels)]
    if measure.source is StackSource.UNKNOWN:
        text = (
            f"cannot determine this core's stack requirement: {measure.problem}; stack_size is not being validated "
            f"for this core. Set stack_size_override on {_DECLARATION} to enable it"
        )
        return [Diagnostic(Level.WARNING, text, where, "W0203", (Note(f"this is core {core.id.at}"),))]
    if measure.size > _I32_MAX:
        text = (
            f"stack requirement computed as {measure.size} bytes, which does not fit in the attribute's i32; "
            "stack_size is not being validated for this core"
        )
        return [Diagnostic(Level.WARNING, text, where, "W0203", tuple(chain_notes(measure.chain)))]
    out: list[Diagnostic] = []
    if measure.unmeasured:
        out.append(_unmeasured(core, measure, objects))
    reserved = default if core.stack_size is None else core.stack_size
    if reserved < measure.size:
        out.append(_too_small(core, measure, reserved, assumed, alignment))
    return out


def chain_notes(chain: Sequence[Frame]) -> Iterable[Note]:
    """The deepest path, a frame a line, entry first."""
    for i, frame in enumerate(chain):
        yield Note(f"{'deepest path: ' if i == 0 else '  > '}{frame_text(frame)}")


def frame_text(frame: Frame) -> str:
    """`filter_rows: 1552 bytes (through a pointer) kernel.c:12`."""
    size = "no frame data, counted as 0" if frame.size is None else f"{frame.size} bytes"
    if frame.given:
        size += " given by stack_size_override for it and all it calls"
    pointer = ", reached through a pointer" if frame.indirect else ""
    return f"{frame.function}: {size}{pointer}{f'  {frame.where}' if frame.where else ''}"


def _recursion(core: CoreFacts, measure: StackMeasure, kernels: Collection[str]) -> Diagnostic:
    notes = [Note(f"core {core.id.at}: {_cycle_text(measure.chain)} has no bound")]
    notes.extend(Note(f"also recursive: {_cycle_text(c)}") for c in measure.cycles)
    through = [(a, b) for a, b in pairwise(measure.chain) if b.indirect]
    notes.extend(Note(f"{a.function} reaches {b.function} through a pointer") for a, b in through)
    declared = [f.function for f in measure.chain if f.function in kernels]
    target = f"func.func @{declared[-1]}" if declared else "the func.func that leads there"
    return Diagnostic(
        Level.ERROR,
        f"'aie.core' op cannot determine this core's stack requirement: {measure.problem}; set stack_size_override on "
        f"{_DECLARATION}, or pass --no-measure-stack-size to skip this check entirely",
        core.where,
        "E0203",
        tuple(notes),
        f"set stack_size_override on {target}, to what its deepest recursion needs",
    )


def _cycle_text(path: Sequence[Frame]) -> str:
    """Only the cycle of a path that ends where it meets itself: `fold -> fold`."""
    names = [f.function for f in path]
    start = names.index(names[-1]) if names else 0
    return " -> ".join(names[start:])


def _unmeasured(core: CoreFacts, measure: StackMeasure, objects: Sequence[InputObject]) -> Diagnostic:
    names = ", ".join(measure.unmeasured)
    notes = [Note(f"this is core {core.id.at}; no measured_stack_size is written for it")]
    notes.extend(Note(f"{o} has no frame data for {', '.join(n)}") for o, n in defining(objects, measure.unmeasured))
    return Diagnostic(
        Level.WARNING,
        f"no stack size information for {len(measure.unmeasured)} function(s) this core reaches, so its requirement is "
        f"at least {measure.size} bytes and may be higher; compile the affected source with -fstack-size-section, or "
        f"set stack_size_override on {_KERNEL_DECLARATION}: {names}",
        core.where,
        "W0204",
        tuple(notes),
    )


def _too_small(core: CoreFacts, measure: StackMeasure, reserved: int, assumed: bool, alignment: int) -> Diagnostic:
    need = measure.size
    skip = "or pass --no-measure-stack-size to skip this check"
    if assumed or core.stack_size is not None:
        code, origin = ("E0202", "assumed by --default-stack-size") if assumed else ("E0201", "declared")
        text = (
            f"{'assumed ' if assumed else ''}stack_size = {reserved} is insufficient: this core needs {need} bytes; "
            f"increase stack_size to {need} (Worker(stack_size=...) in IRON), {skip}"
        )
    else:
        code, origin = "E0202", "the device default"
        text = (
            f"stack_size is absent, so this core uses the device default of {reserved} bytes, but it needs {need} "
            f"bytes; set stack_size = {need} (Worker(stack_size={need}) in IRON), {skip}"
        )
    at_least = "at least " if measure.source is StackSource.LOWER_BOUND else ""
    notes = [
        Note(
            f"core {core.id.at}: {reserved} bytes reserved ({origin}), {at_least}{need} needed, {need - reserved} short"
        )
    ]
    notes.extend(chain_notes(measure.chain))
    value = runs.align_up(need, alignment)
    rounded = f" ({need} rounded up to the stack alignment of {alignment})" if value != need else ""
    return Diagnostic(
        Level.ERROR,
        f"'aie.core' op {text}",
        core.where,
        code,
        tuple(notes),
        f"set stack_size = {value} : i32 on this aie.core{rounded}",
    )


def check_data(core: CoreFacts, linked: int, parts: Sequence[Part] = ()) -> Diagnostic | None:
    """A declared `data_size` must cover the ordinary data of the linked core; a core that declares none never fails."""
    declared = core.data_size
    if declared is None or declared >= linked:
        return None
    largest = largest_note(parts, "variables")
    notes = [Note(f"core {core.id.at}: {linked - declared} bytes short")] + ([] if largest is None else [largest])
    return Diagnostic(
        Level.ERROR,
        f"'aie.core' op data_size {declared} is smaller than the {linked} bytes this core's linked sections occupy",
        core.where,
        "E0301",
        tuple(notes),
        f"set data_size = {linked} : i32 on this aie.core, or remove data_size to have it measured",
    )
