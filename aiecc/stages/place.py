"""place: an address for every extent of every tile."""

from __future__ import annotations

from dataclasses import replace

from aiecc.base.diag import Diagnostic, Note, Sink
from aiecc.choices import PlaceOptions
from aiecc.engine.spec import hookimpl
from aiecc.model import targets
from aiecc.model.build import Lowered, Placement
from aiecc.model.ids import CoreId, DeviceId
from aiecc.model.measure import CoreMeasure
from aiecc.model.memory import TileLayout, TileProblem


@hookimpl
def aiecc_place(
    lowered: Lowered, measured: dict[CoreId, CoreMeasure | None], placing: PlaceOptions, diag: Sink
) -> Placement | None:
    """Write the measurements down, search, write the addresses down. Every tile that fails is reported."""
    from aiecc.ir import placement
    from aiecc.ir.facts import devices, survey
    from aiecc.ir.measures import write
    from aiecc.ir.text import dump, thaw
    from aiecc.place.solve import solve

    op = thaw(lowered.module)
    write(op, measured)
    tiles: list[tuple[DeviceId, TileProblem, TileLayout]] = []
    for device in devices(op):
        target = targets.get(device.target.name)
        for problem in placement.problems(device, target):
            answer = solve(
                problem,
                ranking="spread" if placing.ranking == "spread" else "ranked",
                budget=placing.budget,
                use_cp=placing.exact,
            )
            if isinstance(answer, TileLayout):
                placement.apply(device, problem, answer)
                tiles.append((DeviceId(device.symbol), problem, answer))
            else:
                diag.extend(
                    _told(d, problem, measured.get(CoreId(device.symbol, problem.col, problem.row)))
                    for d in answer.diagnostics
                )
    return None if diag.failed else Placement(dump(op), survey(op), tuple(tiles))


def _told(found: Diagnostic, problem: TileProblem, core: CoreMeasure | None) -> Diagnostic:
    """An error with what its tile's core brings along."""
    if not found.is_error or problem.stack is None:
        return found
    about = f", whose own data is {core.about}" if core is not None and core.about else ""
    return replace(found, notes=(*found.notes, Note(f"on the tile of core ({problem.col}, {problem.row}){about}")))
