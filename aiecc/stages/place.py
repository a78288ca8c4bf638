"""place: an address for every extent of every tile."""

from __future__ import annotations

from dataclasses import replace

from aiecc.base.diag import Diagnostic, Note, Sink
from aiecc.choices import PlaceOptions
from aiecc.engine.spec import hookimpl
from aiecc.model.build import Lowered, Placement
from aiecc.model.ids import CoreId, DeviceId
from aiecc.model.measure import CoreMeasure
from aiecc.model.memory import TileLayout, TileProblem


@hookimpl
def aiecc_place(
    lowered: Lowered, measured: dict[CoreId, CoreMeasure | None], placing: PlaceOptions, diag: Sink
) -> Placement | None:
    """Write the measurements down, search, write the addresses down. Every tile that fails is reported."""
    from aiecc.ir.place_design import place_design
    from aiecc.place.solve import solve

    def solved(device: DeviceId, problem: TileProblem) -> TileLayout | list[Diagnostic]:
        answer = solve(
            problem,
            ranking="spread" if placing.ranking == "spread" else "ranked",
            budget=placing.budget,
            use_cp=placing.exact,
        )
        if isinstance(answer, TileLayout):
            return answer
        core = measured.get(CoreId(device.name, problem.col, problem.row))
        return [_told(d, problem, core) for d in answer.diagnostics]

    diag.extend(_short(lowered, measured))
    if diag.failed:
        return None
    found = place_design(lowered, measured, solved)
    if isinstance(found, Placement):
        return found
    diag.extend(found)
    return None


def _short(lowered: Lowered, measured: dict[CoreId, CoreMeasure | None]) -> list[Diagnostic]:
    """Reservations smaller than what the probe measured: the link could only fail on them."""
    from aiecc.elf.checks import check_data

    found: list[Diagnostic | None] = []
    for device in lowered.design.devices:
        for core in device.cores:
            measure = measured.get(core.id)
            if measure is None or measure.data is None or not measure.data.sized:
                continue
            fault = check_data(core, measure.data.size)
            about = (Note(f"its own data is {measure.about}"),) if measure.about else ()
            found.append(fault and replace(fault, notes=(*fault.notes, *about)))
    return [fault for fault in found if fault is not None]


def _told(found: Diagnostic, problem: TileProblem, core: CoreMeasure | None) -> Diagnostic:
    """An error with what its tile's core brings along."""
    if not found.is_error or problem.stack is None:
        return found
    about = f", whose own data is {core.about}" if core is not None and core.about else ""
    return replace(found, notes=(*found.notes, Note(f"on the tile of core ({problem.col}, {problem.row}){about}")))
