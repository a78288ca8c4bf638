"""timeline.svg: which core waits on which flag when, the way the specification draws it.

A row per core, time to the right. A box is one push, or one pop with the use and the free of its tile, and says its
steps; hatching is waiting. Between the cores lies the ring, a line per slot: pale while it is written, full until it is
freed. Long runs are broken into bands, as music is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from xml.sax.saxutils import escape

from aiecc.plugins.tpush.model import Agent, Cluster, Direction
from aiecc.plugins.tpush.steps import Act, Step, Streams
from aiecc.plugins.tpush.timing import Timed, Timing, timing
from aiecc.plugins.tpush.unroll import streams as unrolled
from aiecc.plugins.tpush.unroll import worlds

UNIT = 11
"""Pixels of one unit of model time."""
BAND = 1320
"""Pixels of a band, without its labels."""
LABELS = 132
NARROWEST = 860
HEAD = 70
LINE = 13
SLOT = 15
GAP = 10
EDGE = 2
TWICE = " 2x"
FONT = 'font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"'

# One colour per tag, told apart by their lightness, too.
_FILLS = ("#b7d3f2", "#f9d6a5", "#c2e5b8", "#f3bfc6", "#d9c9ee", "#f5eca0", "#b5e3e0", "#dcd3c5")
_LINES = ("#2a6bb0", "#b06a12", "#3c8a2b", "#b43446", "#7449b0", "#9a8a10", "#1e8883", "#77684f")

Ring = tuple[int, Direction]


@dataclass(frozen=True, slots=True)
class Box:
    """One message on one core: consecutive steps."""

    agent: Agent
    ring: Ring
    message: int
    tag: int
    steps: tuple[Timed, ...]

    @property
    def begin(self) -> int:
        """When it does something: behind its first wait."""
        first = self.steps[0]
        return first.end if first.begin is None else first.begin

    @property
    def end(self) -> int:
        return self.steps[-1].end


def timeline(cluster: Cluster, streams: Streams) -> str:
    """The picture of one run as an SVG."""
    run = timing(streams, slots={pipe.id: pipe.slot_num for pipe in cluster.pipes})
    return _Picture(cluster, run).text()


def timelines(clusters: Sequence[Cluster]) -> str:
    """timeline.svg: a picture per cluster, of the run that `steps.txt` shows, one below the other."""
    pictures: list[_Picture] = []
    for number, cluster in enumerate(clusters):
        *_, world = worlds(cluster)
        run = timing(unrolled(cluster, world=world), slots={pipe.id: pipe.slot_num for pipe in cluster.pipes})
        pictures.append(_Picture(cluster, run, f"strip{number}"))
    if len(pictures) == 1:
        return pictures[0].text()
    width, height = max(p.width for p in pictures), sum(p.total for p in pictures)
    tops = accumulate((p.total for p in pictures), initial=0)
    inner = [f'<svg y="{top}">\n{p.text()}</svg>' for top, p in zip(tops, pictures, strict=False)]
    return f'<svg {_SPACES} width="{width}" height="{height}">\n' + "\n".join(inner) + "\n</svg>\n"


# --- what is in the picture ---------------------------------------------------------------------------------------


def boxes(agent: Agent, steps: Sequence[Timed]) -> Iterator[Box]:
    """Consecutive steps of one message, each a box."""
    part: list[Timed] = []
    for each in steps:
        if part and _message(part[0]) != _message(each):
            yield _box(agent, part)
            part = []
        part.append(each)
    if part:
        yield _box(agent, part)


def _message(timed: Timed) -> tuple[int, Direction, int]:
    return timed.step.pipe, timed.step.direction, timed.message


def _box(agent: Agent, steps: Sequence[Timed]) -> Box:
    first = steps[0]
    ring = (first.step.pipe, first.step.direction)
    return Box(agent, ring, first.message, first.step.tag, tuple(steps))


def words(step: Step) -> str:
    """A step as the specification's diagram writes it; empty for those it does not show."""
    slot = f"[{step.tag}]"
    if step.flag is not None:
        return f"{step.act.value.upper()} {step.role[0]}:{step.flag.number}"
    if step.act is Act.COPY_START:
        return f"MTE→slot{slot}" if step.accesses and step.accesses[0].write else f"MTE←slot{slot}"
    return f"use {slot}" if step.act is Act.USE_START else ""


def lines(steps: Iterable[Timed]) -> list[str]:
    """The words of a box, one line each; what is done for both lanes, or to a tile again, is one line."""
    found: list[str] = []
    for each in steps:
        text = words(each.step)
        if text and (not found or found[-1].removesuffix(TWICE) != text):
            found.append(text)
        elif text and each.step.flag is not None:
            found[-1] = text + TWICE
    return found


@dataclass(frozen=True, slots=True)
class Life:
    """A slot with one message: written from `begin` to `ready`, then full until it is free again."""

    tag: int
    message: int
    begin: int
    ready: int
    taken: int
    free: int


def lives(cluster: Cluster, run: Timing, ring: Ring, lane: int) -> list[Life]:
    """What a ring's slots go through, as one lane sees it."""
    consumer, producer = (
        Agent.CUBE if k is Agent.CUBE.kind else Agent(1 + lane) for k in (ring[1].consumer, ring[1].producer)
    )
    times: dict[int, dict[str, int]] = {}
    tags: dict[int, int] = {}
    for agent, end in ((producer, "produced"), (consumer, "consumed")):
        for each in run.cores.get(agent, ()):
            step = each.step
            if (step.pipe, step.direction) != ring or (step.flag is not None and step.flag.lane != lane):
                continue
            mine = times.setdefault(each.message, {})
            tags[each.message] = step.tag
            if step.act is Act.SET:
                mine["ready" if end == "produced" else "free"] = each.end
            elif step.act is Act.WAIT and each.begin is not None:
                mine["begin" if end == "produced" else "taken"] = each.end
    found: list[Life] = []
    for message, at in sorted(times.items()):
        if "ready" in at:
            free = at.get("free", run.end)
            taken = at.get("taken", free)
            found.append(Life(tags[message], message, at.get("begin", at["ready"]), at["ready"], taken, free))
    return found


# --- drawing ------------------------------------------------------------------------------------------------------


class _Picture:
    """Lays rows out from top to bottom, draws them once as a long strip, and shows it band by band."""

    def __init__(self, cluster: Cluster, run: Timing, name: str = "strip") -> None:
        self.name = name
        self.cluster = cluster
        self.run = run
        self.boxes = {agent: list(boxes(agent, steps)) for agent, steps in run.cores.items()}
        self.heights = {
            agent: LINE * max((len(lines(b.steps)) for b in found), default=1) + 8
            for agent, found in self.boxes.items()
        }
        self.tops: dict[Agent | tuple[Ring, int], int] = {}
        self.labels: list[tuple[int, str, bool]] = []
        self.height = self._lay_out()
        self.starts = self._breaks()
        self.band = max(UNIT * (b - a) for a, b in pairwise(self.starts)) + 2 * EDGE
        self.width = max(LABELS + self.band + GAP, NARROWEST)
        self.total = HEAD + (len(self.starts) - 1) * (self.height + 26)

    def _lay_out(self) -> int:
        """Cube above its only lane, as the specification has it; between two lanes."""
        two = self.cluster.lanes == 2
        order: list[Agent | int] = [Agent.AIV0, 0, Agent.CUBE, 1, Agent.AIV1] if two else [Agent.CUBE, 0, Agent.AIV0]
        y = 22
        for each in order:
            if isinstance(each, Agent):
                self.tops[each] = y
                self.labels.append((y + self.heights[each] // 2 + 5, each.title, True))
                y += self.heights[each] + GAP
            else:
                for pipe in self.cluster.pipes:
                    for direction in pipe.directions:
                        y = self._lay_ring((pipe.id, direction), each, pipe.slot_num, y)
        return y

    def _lay_ring(self, ring: Ring, lane: int, slots: int, y: int) -> int:
        if not self._lives(ring, lane):
            return y
        self.tops[ring, lane] = y
        pipe = f"pipe {ring[0]} " if len(self.cluster.pipes) > 1 else ""
        self.labels.append((y + 11, f"{pipe}{ring[1].name}", False))
        for tag in range(slots):
            self.labels.append((y + SLOT * tag + 11, f"slot[{tag}]", False))
        return y + SLOT * slots + GAP

    def _lives(self, ring: Ring, lane: int) -> list[Life]:
        return lives(self.cluster, self.run, ring, lane)

    def text(self) -> str:
        parts = [
            f'<svg {_SPACES} {FONT} font-size="11" width="{self.width}" height="{self.total}" '
            f'viewBox="0 0 {self.width} {self.total}">',
            f"<title>{escape(self._title())}</title>",
            _DEFS,
            '<rect width="100%" height="100%" fill="white"/>',
            *self._head(),
            f'<defs><g id="{self.name}">{"".join(self._strip())}</g></defs>',
        ]
        for index, (first, last) in enumerate(pairwise(self.starts)):
            y = HEAD + index * (self.height + 26)
            for at, text, strong in self.labels:
                weight = ' font-weight="bold" font-size="13"' if strong else ' fill="#555"'
                anchor = LABELS - 12 if text.startswith("slot") or strong else 12
                end = ' text-anchor="end"' if text.startswith("slot") or strong else ""
                parts.append(f'<text x="{anchor}" y="{y + at}"{end}{weight}>{escape(text)}</text>')
            left, width = _x(first) - EDGE, UNIT * (last - first) + 2 * EDGE
            parts.append(
                f'<svg x="{LABELS}" y="{y}" width="{width}" height="{self.height}" '
                f'viewBox="{left} 0 {width} {self.height}"><use xlink:href="#{self.name}" href="#{self.name}"/></svg>'
            )
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _breaks(self) -> list[int]:
        """Where bands begin and end: where they are full, or a little before when fewer boxes are cut there."""
        full = BAND // UNIT
        count = -(-self.run.end // full) or 1
        longest = min(full, -(-self.run.end // count) + 8)
        found = [0]
        while self.run.end - found[-1] > longest:
            last = found[-1] + longest
            found.append(min(range(last, last - 24, -1), key=self._cut_at))
        return [*found, max(self.run.end, 1)]

    def _cut_at(self, time: int) -> int:
        return sum(b.begin < time < b.end for row in self.boxes.values() for b in row)

    def _title(self) -> str:
        c = self.cluster
        return f"@{c.cube.name} and @{c.vector.name} on {c.platform.value.upper()}"

    def _head(self) -> Iterator[str]:
        yield f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(self._title())}</text>'
        note = "r = ready, f = free. Hatched: the core waits. A slot is pale while written, then full, dark while held."
        yield f'<text x="12" y="40" fill="#555">{escape(note)}</text>'
        if self.run.left_out:
            rest = f"The {self.run.left_out} messages after these go on in the same way."
            yield f'<text x="12" y="55" fill="#555">{rest}</text>'

    def _strip(self) -> Iterator[str]:
        for time in range(0, self.run.end + 1, 10):
            x = _x(time)
            yield f'<line x1="{x}" y1="4" x2="{x}" y2="{self.height}" stroke="#e4e4e4"/>'
            yield f'<text x="{x + 2}" y="12" fill="#888" font-size="9">{time}</text>'
        for key, top in self.tops.items():
            if not isinstance(key, Agent):
                yield from self._ring(key[0], key[1], top)
        for agent, found in self.boxes.items():
            yield from self._core(agent, found)

    def _ring(self, ring: Ring, lane: int, top: int) -> Iterator[str]:
        slots = self.cluster.pipe(ring[0]).slot_num
        for tag in range(slots):
            y = top + SLOT * tag + SLOT // 2
            yield f'<line x1="0" y1="{y}" x2="{_x(self.run.end)}" y2="{y}" stroke="#cccccc" stroke-dasharray="2 3"/>'
        consumer = Agent.CUBE if ring[1].consumer is Agent.CUBE.kind else Agent(1 + lane)
        producer = Agent(1 + lane) if consumer is Agent.CUBE else Agent.CUBE
        for life in self._lives(ring, lane):
            y = top + SLOT * life.tag
            fill, edge = _FILLS[life.tag % 8], _LINES[life.tag % 8]
            yield _rect(
                life.begin, life.ready, y + 2, SLOT - 4, fill, edge, 'fill-opacity="0.35" stroke-dasharray="2 2"'
            )
            yield _rect(life.ready, life.taken, y + 2, SLOT - 4, fill, edge)
            yield _rect(life.taken, life.free, y + 2, SLOT - 4, edge, edge, 'fill-opacity="0.75"')
            yield f'<text x="{_x(life.ready) + 4}" y="{y + 11}" font-size="10">{life.message}</text>'
            yield self._arrow(life.ready, self._edge(producer, top), y + SLOT // 2, edge)
            yield self._arrow(life.taken, y + SLOT // 2, self._edge(consumer, top), edge)
            yield self._arrow(life.free, self._edge(consumer, top), y + SLOT // 2, edge, 'stroke-dasharray="3 2"')
            yield from self._unblocked(producer, ring, life, top, y, lane)

    def _unblocked(self, producer: Agent, ring: Ring, life: Life, top: int, y: int, lane: int) -> Iterator[str]:
        """A push that stood still until this slot was free."""
        for box in self.boxes.get(producer, ()):
            for each in box.steps:
                step = each.step
                freed = step.act is Act.WAIT and step.role == "free" and box.ring == ring and step.tag == life.tag
                if freed and each.waited and each.begin == life.free and step.flag and step.flag.lane == lane:
                    yield self._arrow(
                        life.free, y + SLOT // 2, self._edge(producer, top), "#c00000", 'stroke-width="2"'
                    )

    def _edge(self, agent: Agent, top: int) -> int:
        """The side of a core's row that faces a ring."""
        own = self.tops[agent]
        return own + self.heights[agent] if own < top else own

    @staticmethod
    def _arrow(time: int, y1: int, y2: int, colour: str, more: str = "") -> str:
        x = _x(time)
        return (
            f'<line x1="{x}" y1="{y1}" x2="{x}" y2="{y2}" stroke="{colour}" stroke-opacity="0.8" {more} '
            f'marker-end="url(#head)"/>'
        )

    def _core(self, agent: Agent, found: Sequence[Box]) -> Iterator[str]:
        top, height = self.tops[agent], self.heights[agent]
        for box in found:
            fill, edge = _FILLS[box.tag % 8], _LINES[box.tag % 8]
            for each in box.steps:
                if each.waited:
                    until = each.end if each.begin is None else each.begin
                    yield _rect(each.asked, until, top, height, "url(#wait)", "#b0b0b0")
                    yield from self._waits(each, until, top, height)
            yield _rect(box.begin, box.end, top, height, fill, edge)
            yield from (
                f'<text x="{_x(box.begin) + 4}" y="{top + 13 + LINE * i}">{escape(text)}</text>'
                for i, text in enumerate(lines(box.steps))
            )

    @staticmethod
    def _waits(each: Timed, until: int, top: int, height: int) -> Iterator[str]:
        """What is waited for, where there is room to say so."""
        assert each.step.flag is not None
        text = f"{each.step.role[0]}:{each.step.flag.number}"
        room = UNIT * (until - each.asked)
        if room >= 7 * len(text):
            x, y = (_x(each.asked) + _x(until)) / 2, top + height / 2 + 4
            ever = " for ever" if each.begin is None else ""
            half = 3.5 * len(text + ever) + 3
            yield f'<rect x="{x - half}" y="{y - 11}" width="{2 * half}" height="15" fill="white" fill-opacity="0.9"/>'
            yield f'<text x="{x}" y="{y}" text-anchor="middle" fill="#c00000">{text}{ever}</text>'


def _x(time: int) -> int:
    return GAP + UNIT * time


def _rect(begin: int, end: int, y: int, height: int, fill: str, edge: str, more: str = "") -> str:
    x, width = _x(begin), UNIT * (end - begin)
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" stroke="{edge}" rx="2" {more}/>'


_SPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
_DEFS = (
    '<defs><pattern id="wait" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" fill="#f4f4f4"/><line x1="0" y1="0" x2="0" y2="6" stroke="#cfcfcf" stroke-width="2"/>'
    '</pattern><marker id="head" viewBox="0 0 6 6" refX="5" refY="3" '
    'markerUnits="userSpaceOnUse" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0,0 L6,3 L0,6 z" fill="#444"/></marker></defs>'
)
