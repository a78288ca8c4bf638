"""report.json: every figure of a build, for tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiecc.model.build import CoreReport, Placement
from aiecc.model.ids import CoreId
from aiecc.model.memory import TileLayout, TileProblem
from aiecc.report.summary import CoreRow, rows


def report_facts(source: str, reports: Mapping[CoreId, CoreReport], placement: Placement) -> bytes:
    """The report as JSON. Sizes and addresses in bytes; null is unknown, which is never the same as 0."""
    cores = [
        _core(report, row) for report, row in zip(reports.values(), rows(reports.values(), placement), strict=True)
    ]
    tiles = [_tile(device.name, problem, layout) for device, problem, layout in placement.tiles]
    return json.dumps({"format": 1, "design": source, "cores": cores, "tiles": tiles}, indent=2).encode() + b"\n"


def _core(report: CoreReport, row: CoreRow) -> dict[str, Any]:
    stack = report.stack
    return {
        "core": str(report.core.id),
        "device": row.device,
        "tile": [row.col, row.row],
        "prebuilt": report.prebuilt,
        "stack": {
            "needed": row.stack_needed,
            "exact": row.stack_exact,
            "reserved": row.stack_reserved,
            "source": None if stack is None else stack.source.value,
            "problem": None if stack is None or not stack.problem else stack.problem,
            "unmeasured": [] if stack is None else list(stack.unmeasured),
            "chain": []
            if stack is None
            else [
                {"function": f.function, "size": f.size, "given": f.given, "indirect": f.indirect, "where": f.where}
                for f in stack.chain
            ],
        },
        "data": row.data,
        "banks": [{"used": used, "size": size} for used, size in row.banks],
        "program": {"used": row.program, "limit": row.program_limit},
        "largest_free_run": row.largest_free,
    }


def _tile(device: str, problem: TileProblem, layout: TileLayout) -> dict[str, Any]:
    extents = [
        {"name": e.name, "kind": e.kind.value, "address": layout.addresses[e.name], "size": e.size}
        for e in problem.extents
    ]
    stack = problem.stack
    return {
        "device": device,
        "tile": [problem.col, problem.row],
        "memory": problem.memory,
        "stack": None if stack is None else {"address": layout.stack_address or 0, "size": stack.size},
        "extents": sorted(extents, key=lambda e: (e["address"], e["size"])),
        "solver": layout.solver,
        "tries": layout.tries,
    }
