"""The table a build ends with."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from itertools import groupby

from aiecc.report.summary import CoreRow


def device_tables(rows: Iterable[CoreRow], *, width: int = 120, color: bool = False) -> str:
    """One table per device, a line per core, as text that ends in a newline; empty without rows.

    `width` in columns; `color` allows escape sequences. Sizes in bytes.
    """
    return "".join(_table(device, list(group), width, color) for device, group in groupby(rows, key=lambda r: r.device))


def _table(device: str, rows: Sequence[CoreRow], width: int, color: bool) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    banks = max((len(r.banks) for r in rows), default=0)
    table = Table(
        title=f"{device}: {len(rows)} core{'s' if len(rows) != 1 else ''}, bytes used/available",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("core")
    for name in ("stack", "data", *(f"bank {'ABCDEFGH'[b]}" for b in range(banks)), "program", "largest free"):
        table.add_column(name, justify="right", no_wrap=True)
    for r in rows:
        table.add_row(f"({r.col}, {r.row})", *_cells(r))
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=color, no_color=not color, highlight=False).print(table)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


def _cells(row: CoreRow) -> list[str]:
    if row.stack_needed is None:
        stack = f"?/{row.stack_reserved}"
    else:
        stack = f"{'' if row.stack_exact else '>='}{row.stack_needed}/{row.stack_reserved}"
    return [
        stack,
        "?" if row.data is None else str(row.data),
        *(f"{used}/{size}" for used, size in row.banks),
        f"{row.program}/{row.program_limit}",
        str(row.largest_free),
    ]
