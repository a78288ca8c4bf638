"""Where rings lie and which flags they use: workspaces of A2A3, rings of A5, the flag budget.

`arranged` does all of it. A2A3: one workspace per cluster in global memory, both rings of a pipe one after the other,
the next pipe behind the whole of it. A5: a ring lies in its consumer's memory; the placement engine of the house finds
the place, around whatever else lies there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aiecc.api import Diagnostic, Extent, Kind, Refused, Sink, TileProblem, place_tile
from aiecc.plugins.tpush.memories import CONSUMER_SPACE, MEMORIES
from aiecc.plugins.tpush.model import FLAGS, Cluster, Direction, Pipe, Platform, Reserve, Space

CODE = "E1201"

_TILE_OF: dict[Space, tuple[int, int]] = {Space.MAT: (0, 0), Space.VEC: (0, 1)}
"""The search speaks of tiles by column and row; here a memory is one."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Global memory of one cluster on A2A3, in bytes. `starts`: of each pipe, by id, from the workspace's start."""

    starts: Mapping[int, int]
    size: int
    name: str = ""


def pipe_bytes(pipe: Pipe) -> int:
    """What the rings of a pipe take: one per direction."""
    return len(pipe.directions) * pipe.ring_size


def workspace(pipes: Sequence[Pipe]) -> Workspace:
    """One pipe behind the other, each with all of its rings; those that have their addresses stay there."""
    starts: dict[int, int] = {}
    at = end = 0
    for pipe in pipes:
        fixed = [base for d in pipe.directions if (base := pipe.base(d)) is not None]
        starts[pipe.id] = min(fixed, default=at)
        at = starts[pipe.id] + pipe_bytes(pipe)
        end = max(end, at)
    return Workspace(starts, end, pipes[0].workspace if pipes else "")


def workspaces(pipes: Sequence[Pipe]) -> list[Workspace]:
    """All of them, when pipes start from different pointers."""
    names = dict.fromkeys(pipe.workspace for pipe in pipes)
    return [workspace([pipe for pipe in pipes if pipe.workspace == name]) for name in names]


def with_flags(cluster: Cluster, diag: Sink) -> Cluster:
    """Give every pipe its flags, one pipe behind the other. Each wire of a pair has 8, and pipes never share one."""
    first = 0
    pipes: list[Pipe] = []
    for pipe in cluster.pipes:
        if first + pipe.flags > FLAGS:
            rest = f"; pipes before it take {first}" if first else ""
            text = f"'{pipe.cube.op}' op needs {pipe.flags} flags on each wire, which has {FLAGS}{rest}"
            most = (FLAGS - first) // len(pipe.directions)
            todo = f"set slot_num = {most} on both sides" if most > 0 else "move its messages to another pipe"
            diag.error(text, pipe.cube.where, code=CODE, todo=todo)
        pipes.append(replace(pipe, flag_base=first))
        first += pipe.flags
    return replace(cluster, pipes=tuple(pipes))


def in_workspace(cluster: Cluster, base: int = 0) -> Cluster:
    """A2A3: the addresses of all rings in workspaces that start at `base`."""
    starts = {id: start for space in workspaces(cluster.pipes) for id, start in space.starts.items()}
    return replace(cluster, pipes=tuple(_in_workspace(pipe, base + starts[pipe.id]) for pipe in cluster.pipes))


def _in_workspace(pipe: Pipe, start: int) -> Pipe:
    bases = {direction: start + index * pipe.ring_size for index, direction in enumerate(pipe.directions)}
    return replace(pipe, c2v_base=bases.get(Direction.C2V), v2c_base=bases.get(Direction.V2C))


def with_bases(cluster: Cluster, bases: Mapping[str, int]) -> Cluster:
    """A5: the rings at the addresses of their reservations, by name. Both cores get the same number."""
    reserves = tuple(replace(r, base=bases.get(r.name, r.base)) for r in cluster.reserves)
    at = {r.name: r.base for r in reserves}
    pipes = tuple(
        replace(p, c2v_base=at.get(p.c2v_ring, p.c2v_base), v2c_base=at.get(p.v2c_ring, p.v2c_base))
        for p in cluster.pipes
    )
    return replace(cluster, pipes=pipes, reserves=reserves)


def arranged(
    cluster: Cluster, diag: Sink, own: Mapping[Space, Sequence[Extent]] | None = None, base: int = 0
) -> Cluster | None:
    """Flags and addresses for every pipe; None when that cannot be, and `diag` says why.

    `own`: what else lies in the consumers' memories on A5. `base`: where the workspace starts on A2A3.
    """
    before = len(diag.items)
    found = with_flags(cluster, diag)
    if cluster.platform is Platform.A2A3:
        found = in_workspace(found, base)
    else:
        bases: dict[str, int] = {}
        for space in CONSUMER_SPACE.values():
            bases |= _placed(found, space, (own or {}).get(space, ()), diag)
        found = with_bases(found, bases)
    return None if any(d.is_error for d in diag.items[before:]) else found


def problem(cluster: Cluster, space: Space, own: Sequence[Extent] = ()) -> TileProblem:
    """One memory with all that must lie in it, as the placement engine wants it asked."""
    memory = MEMORIES[cluster.platform][space]
    rings = tuple(
        Extent(r.name, Kind.BUFFER, r.size, address=r.base, where=r.site.where)
        for r in cluster.reserves
        if r.space is space
    )
    col, row = _TILE_OF[space]
    return TileProblem(
        col=col,
        row=row,
        memory=memory.usable,
        banks=1,
        bus=memory.alignment,
        vector=memory.alignment,
        stack_align=memory.alignment,
        extents=(*own, *rings),
    )


def _placed(cluster: Cluster, space: Space, own: Sequence[Extent], diag: Sink) -> dict[str, int]:
    mine = {r.name: r for r in cluster.reserves if r.space is space}
    memory = MEMORIES[cluster.platform][space]
    crooked = [r for r in mine.values() if (r.base or 0) % memory.alignment]
    for each in crooked:
        text = f"'pto.reserve_buffer' op base {each.base} is no multiple of {memory.alignment}, as addresses in"
        diag.error(f"{text} {memory.title} must be", each.site.where, code="E0402")
    if crooked or not mine:
        return {}
    try:
        layout = place_tile(problem(cluster, space, own))
    except Refused as refused:
        diag.extend(_told(each, cluster, space, mine) for each in refused.diagnostics)
        return {}
    return {name: layout.addresses[name] for name in mine}


def _told(found: Diagnostic, cluster: Cluster, space: Space, rings: Mapping[str, Reserve]) -> Diagnostic:
    """What the search says, in the words of this dialect."""
    title = MEMORIES[cluster.platform][space].title
    words = (
        ("'aie.buffer' op address attribute", "'pto.reserve_buffer' op base"),
        ("'aie.buffer'", "'pto.reserve_buffer'"),
        ("this tile's", f"{title}'s"),
        ("the tile's memory", f"what may be used of {title}"),
        ("of this tile", f"in {title}"),
        ("this tile", title),
        ("use address =", "use base ="),
    )

    def said(text: str) -> str:
        for theirs, ours in words:
            text = text.replace(theirs, ours)
        return text

    where = found.where or next((r.site.where for r in rings.values()), None)
    notes = tuple(replace(note, text=said(note.text)) for note in found.notes)
    return replace(found, text=said(found.text), where=where, notes=notes, todo=said(found.todo))
