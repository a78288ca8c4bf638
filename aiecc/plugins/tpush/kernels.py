"""Which functions of a module run on which core, which of them run together, and on which platform."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from aiecc.plugins.tpush.dialect.attrs import KernelKindAttr
from aiecc.plugins.tpush.dialect.pipe_ops import (
    ImportReservedBufferOp,
    InitializePipe,
    PipeOp,
    ReserveBufferOp,
)
from aiecc.plugins.tpush.model import Kind, Platform

KIND = "pto.kernel_kind"
ARCH = "pto.target_arch"
ARGUMENT = "pto.name"
"""An attribute of an argument: arguments of one name are equal on both cores."""

_PLATFORMS = {"a2": Platform.A2A3, "a3": Platform.A2A3, "a2a3": Platform.A2A3, "a5": Platform.A5}


@dataclass(eq=False, slots=True)
class Kernel:
    """A function that carries its core kind, with its ops on pipes in the order of the text."""

    function: func.FuncOp
    kind: Kind
    setups: list[InitializePipe] = field(default_factory=list[InitializePipe])
    transfers: list[PipeOp] = field(default_factory=list[PipeOp])
    reserves: list[ReserveBufferOp] = field(default_factory=list[ReserveBufferOp])
    imports: list[ImportReservedBufferOp] = field(default_factory=list[ImportReservedBufferOp])

    @property
    def name(self) -> str:
        return self.function.sym_name.data

    @property
    def entry(self) -> Block | None:
        return self.function.body.blocks.first

    @property
    def has_pipes(self) -> bool:
        return bool(self.setups or self.transfers)

    def setup(self, number: int) -> InitializePipe | None:
        """The first set-up of a pipe."""
        return next((each for each in self.setups if each.number == number), None)


@dataclass(eq=False, slots=True)
class Pair:
    """Kernels that run together in a cluster. `caller`: the function that calls both, when there is one."""

    cube: Kernel
    vector: Kernel
    caller: func.FuncOp | None = None

    @property
    def kernels(self) -> tuple[Kernel, Kernel]:
        return self.cube, self.vector

    def other(self, kernel: Kernel) -> Kernel:
        return self.vector if kernel is self.cube else self.cube


def kind_of(function: func.FuncOp) -> Kind | None:
    """What a function says it runs on."""
    found = function.attributes.get(KIND)
    return found.kind if isinstance(found, KernelKindAttr) else None


def functions_of(module: ModuleOp) -> Iterator[func.FuncOp]:
    """All functions, those of inner modules included."""
    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp):
            yield op
        elif isinstance(op, ModuleOp):
            yield from functions_of(op)


def kernels_of(module: ModuleOp) -> list[Kernel]:
    """The functions that carry a core kind."""
    found: list[Kernel] = []
    for function in functions_of(module):
        kind = kind_of(function)
        if kind is None:
            continue
        kernel = Kernel(function, kind)
        for op in function.walk():
            if isinstance(op, InitializePipe):
                kernel.setups.append(op)
            elif isinstance(op, PipeOp):
                kernel.transfers.append(op)
            elif isinstance(op, ReserveBufferOp):
                kernel.reserves.append(op)
            elif isinstance(op, ImportReservedBufferOp):
                kernel.imports.append(op)
        found.append(kernel)
    return found


def function_around(op: Operation) -> func.FuncOp | None:
    """The function an op stands in."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, func.FuncOp):
        parent = parent.parent_op()
    return parent


def platform_of(module: ModuleOp, kernels: list[Kernel]) -> Platform | str:
    """What the module says; else A2A3 when a set-up names a buffer in global memory, A5 otherwise.

    A word that is no platform is given back as it is.
    """
    said = module.attributes.get(ARCH)
    if isinstance(said, StringAttr):
        return _PLATFORMS.get(said.data.lower(), said.data)
    through_memory = any(setup.gm_slot_buffer is not None for kernel in kernels for setup in kernel.setups)
    return Platform.A2A3 if through_memory else Platform.A5


# ---------------------------------------------------------------------------------------------- who runs with whom


def candidates(kernel: Kernel, kernels: list[Kernel], module: ModuleOp) -> list[tuple[Kernel, func.FuncOp | None]]:
    """The kernels of the other kind that may run with this one, by the strongest of: imports, a common caller, being
    the only one; each with that caller."""
    others = [k for k in kernels if k.kind is not kernel.kind and k.has_pipes]
    callers = {k: caller for caller, called in _calls(module, kernels) if kernel in called for k in called}
    by_import = [
        (k, callers.get(k))
        for k in others
        if any(i.peer == k.name for i in kernel.imports) or any(i.peer == kernel.name for i in k.imports)
    ]
    if by_import:
        return by_import
    called = [(k, callers.get(k)) for k in others if k in callers]
    alone = len(others) == 1 and sum(k.kind is kernel.kind and k.has_pipes for k in kernels) == 1
    return called or ([(others[0], None)] if alone else [])


def _calls(module: ModuleOp, kernels: list[Kernel]) -> Iterator[tuple[func.FuncOp, list[Kernel]]]:
    """Functions that call kernels, with those kernels."""
    by_name = {kernel.name: kernel for kernel in kernels}
    for function in functions_of(module):
        called = [
            by_name[op.callee.root_reference.data]
            for op in function.walk()
            if isinstance(op, func.CallOp) and op.callee.root_reference.data in by_name
        ]
        if called:
            yield function, called


def arguments_of(pair: Pair) -> dict[SSAValue, str]:
    """Texts of both kernels' arguments; equal texts are equal values.

    Arguments are equal when they have one `pto.name`, when their caller hands over one value, or, of kernels nobody
    calls whose arguments have the same types, at one position.
    """
    texts: dict[SSAValue, str] = {}
    for kernel in pair.kernels:
        call = _call(pair.caller, kernel)
        for index, argument in enumerate(_arguments(kernel.function)):
            named = _name(kernel.function, index)
            if named:
                texts[argument] = named
            elif call is not None and index < len(call.operands):
                texts[argument] = _handed(call.operands[index])
            elif pair.caller is None and _alike(pair):
                texts[argument] = f"argument {index}"
            else:
                texts[argument] = f"argument {index} of @{kernel.name}"
    return texts


def _alike(pair: Pair) -> bool:
    cube, vector = (kernel.function.function_type.inputs for kernel in pair.kernels)
    return cube == vector


def _arguments(function: func.FuncOp) -> tuple[BlockArgument, ...]:
    entry = function.body.blocks.first
    return () if entry is None else tuple(entry.args)


def _name(function: func.FuncOp, index: int) -> str:
    found = function.arg_attrs
    if found is None or index >= len(found.data):
        return ""
    name = found.data[index].data.get(ARGUMENT)
    return name.data if isinstance(name, StringAttr) else ""


def _call(caller: func.FuncOp | None, kernel: Kernel) -> func.CallOp | None:
    if caller is None:
        return None
    calls = [op for op in caller.walk() if isinstance(op, func.CallOp)]
    return next((op for op in calls if op.callee.root_reference.data == kernel.name), None)


def _handed(value: SSAValue) -> str:
    """A caller's value by where it comes from."""
    from aiecc.plugins.tpush.values import Values

    return Values(lambda argument: f"argument {argument.index} of the caller").text(value)
