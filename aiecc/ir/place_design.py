"""Placing a whole design with any solver: measurements in, tiles solved one by one, addresses written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from aiecc.base.diag import Diagnostic
from aiecc.ir import placement
from aiecc.ir.facts import devices, survey
from aiecc.ir.measures import write
from aiecc.ir.text import dump, thaw
from aiecc.model import targets
from aiecc.model.build import Lowered, Placement
from aiecc.model.ids import CoreId, DeviceId
from aiecc.model.measure import CoreMeasure
from aiecc.model.memory import TileLayout, TileProblem

Solve = Callable[[DeviceId, TileProblem], TileLayout | Iterable[Diagnostic]]
"""Gives a tile's extents addresses, or says why it cannot."""


def place_design(
    lowered: Lowered, measured: Mapping[CoreId, CoreMeasure | None], solve: Solve
) -> Placement | list[Diagnostic]:
    """The placed design, or what every tile that could not be placed has said."""
    op = thaw(lowered.module)
    write(op, measured)
    tiles: list[tuple[DeviceId, TileProblem, TileLayout]] = []
    said: list[Diagnostic] = []
    for device in devices(op):
        here = DeviceId(device.symbol)
        for problem in placement.problems(device, targets.get(device.target.name)):
            answer = solve(here, problem)
            if isinstance(answer, TileLayout):
                placement.apply(device, problem, answer)
                tiles.append((here, problem, answer))
            else:
                said.extend(answer)
    return said if any(d.is_error for d in said) else Placement(dump(op), survey(op), tuple(tiles))
