"""measure: what a core wants of its tile's memory, before anything has an address."""

from __future__ import annotations

from aiecc.base.diag import Note, Sink, refuse
from aiecc.choices import MeasureOptions
from aiecc.engine.reads import Files
from aiecc.engine.spec import hookimpl
from aiecc.model.build import CoreElf, Lowered
from aiecc.model.ids import CoreId
from aiecc.model.measure import CoreMeasure
from aiecc.model.prebuilt import find_elf
from aiecc.model.targets import Target, TileKind


@hookimpl
def aiecc_measure(
    core: CoreId,
    probe: CoreElf | None,
    lowered: Lowered,
    target: Target,
    measuring: MeasureOptions,
    search: tuple[str, ...],
    files: Files,
    diag: Sink,
) -> CoreMeasure | None:
    """Sizes and alignments of a probed core; the ranges that a prebuilt one holds."""
    from dataclasses import replace

    from aiecc.elf.data import prebuilt_ranges, probe_data
    from aiecc.elf.read import ElfProblem, read

    facts = lowered.design.core(core)
    if probe is not None:
        data = probe_data(read(probe.blob.bytes()), target.banks(TileKind.CORE))
        return CoreMeasure(data=data if measuring.data else replace(data, size=0, alignment=1, sized=False))
    if facts.elf_file is None:
        return None
    path = find_elf(facts, search, files.first)
    try:
        image = read(files.read_bytes(path))
    except (OSError, ElfProblem) as problem:
        refuse(
            f"aiecc: elf_file '{facts.elf_file}' of core {core.at} cannot be used: {problem}",
            facts.where,
            code="E0702",
            notes=(Note(f"read from {path}"),),
        )
    own = target.own_base(core.col, core.row)
    return CoreMeasure(ranges=prebuilt_ranges(image, own, target.memory_size(TileKind.CORE)))
