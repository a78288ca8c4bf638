"""measure: what a core wants of its tile's memory, before anything has an address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aiecc.base.diag import Note, Sink, refuse
from aiecc.choices import MeasureOptions
from aiecc.engine.reads import Files
from aiecc.engine.spec import hookimpl
from aiecc.model.build import CoreElf, CoreObject, LinkInput, Lowered
from aiecc.model.ids import CoreId, KernelId
from aiecc.model.measure import CoreMeasure
from aiecc.model.prebuilt import find_elf
from aiecc.model.targets import Target, TileKind

if TYPE_CHECKING:
    from aiecc.elf.inputs import LinkFile
    from aiecc.elf.read import Image


@hookimpl
def aiecc_measure(
    core: CoreId,
    probe: CoreElf | None,
    object: CoreObject | None,
    lowered: Lowered,
    kernel: dict[KernelId, LinkInput],
    target: Target,
    measuring: MeasureOptions,
    search: tuple[str, ...],
    files: Files,
    diag: Sink,
) -> CoreMeasure | None:
    """Sizes and alignments of a probed core; the ranges that a prebuilt one holds."""
    from dataclasses import replace

    from aiecc.elf.data import prebuilt_ranges, probe_data
    from aiecc.elf.inputs import LinkFile
    from aiecc.elf.read import ElfProblem, read, read_linked

    facts = lowered.design.core(core)
    if probe is not None:
        try:
            image = read(probe.blob.bytes())
        except ElfProblem as problem:
            refuse(f"aiecc: the probe link of core {core.at} made no ELF: {problem}", facts.where, code="E0802")
        data = probe_data(image, target.banks(TileKind.CORE))
        kept = data if measuring.data else replace(data, size=0, alignment=1, sized=False)
        linked = [LinkFile(k.path, kernel[k].blob.bytes()) for k in facts.kernels if not k.merge]
        if object is not None:
            linked.insert(0, LinkFile(f"{core.label}.o", object.blob.bytes()))
        return CoreMeasure(data=kept, about=_about(image, linked) if data.size or any(data.bank_sizes) else "")
    if facts.elf_file is None:
        return None
    path = find_elf(facts, search, files.first)
    try:
        image = read_linked(files.read_bytes(path))
    except (OSError, ElfProblem) as problem:
        refuse(
            f"aiecc: elf_file '{facts.elf_file}' of core {core.at} cannot be used: {problem}",
            facts.where,
            code="E0702",
            notes=(Note(f"read from {path}"),),
        )
    own = target.own_base(core.col, core.row)
    return CoreMeasure(ranges=prebuilt_ranges(image, own, target.memory_size(TileKind.CORE)))


def _about(image: Image, files: Sequence[LinkFile]) -> str:
    """`.bss 2048 bytes; largest variables: history (2048 bytes, kernel.o)`."""
    from aiecc.elf.data import data_sections
    from aiecc.elf.inputs import objects, variables

    sections = ", ".join(f"{s.name} {s.size} bytes" for s, _ in data_sections(image))
    given = objects(files)
    banks = range(4)
    parts = [*variables(image, given), *(v for b in banks for v in variables(image, given, bank=b))]
    largest = ", ".join(str(v) for v in sorted(parts, key=lambda v: -v.size)[:4])
    return f"{sections}; largest variables: {largest}" if largest else sections
