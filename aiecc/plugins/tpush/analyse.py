"""Deadlocks and races as the user reads them: at his own lines, with the ops that make the cycle or the pair.

`analyse` runs the exact check on the runs that stand for all runs, reports the first thing that is wrong, and adds the
smallest change that cures it where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aiecc.api import Diagnostic, Level, Note, Sink
from aiecc.plugins.tpush.cure import cure
from aiecc.plugins.tpush.graph import check
from aiecc.plugins.tpush.model import Agent, Cluster, Direction, Pop, Push
from aiecc.plugins.tpush.protocol import FreeRule
from aiecc.plugins.tpush.steps import Act, Step, Streams
from aiecc.plugins.tpush.unroll import TooLong, World, streams, worlds
from aiecc.plugins.tpush.verdict import Place, Race, RaceKind, Verdict

DEADLOCK = "E1202"
RACE = "E1203"
FLAGS = "E1204"
_WARNINGS = {DEADLOCK: "W1202", RACE: "W1203", FLAGS: "W1204"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What the first run that goes wrong came to, and that run."""

    verdict: Verdict
    streams: Streams
    world: World


def find(cluster: Cluster, rule: FreeRule = FreeRule.AFTER_USE) -> Finding | None:
    """The first run that goes wrong; None when all end well. Raises `TooLong`."""
    for world in worlds(cluster):
        run = streams(cluster, rule, world)
        verdict = check(run)
        if not verdict.good:
            return Finding(verdict, run, world)
    return None


def analyse(cluster: Cluster, diag: Sink, rule: FreeRule = FreeRule.AFTER_USE) -> bool:
    """Report what is wrong with a cluster's program; True when nothing is."""
    try:
        finding = find(cluster, rule)
    except TooLong:
        site = cluster.cube.site
        text = f"@{cluster.cube.name} and @{cluster.vector.name} move too many messages to be checked for deadlocks"
        todo = "nest the loops around pushes and pops alike on both sides"
        diag.warning(text, site.where, code="W1202", todo=todo)
        return True
    if finding is None:
        return True
    words = _Words(cluster, finding)
    verdict = finding.verdict
    todo = cure(cluster, rule)
    if verdict.deadlock:
        words.deadlock(diag, todo)
    elif verdict.race is not None:
        words.race(verdict.race, diag, todo)
    elif verdict.twice is not None:
        words.twice(verdict.twice, diag, todo)
    else:
        words.left(diag, todo)
    return False


def as_warning(found: Diagnostic) -> Diagnostic:
    """The same for those who want to build it all the same."""
    return replace(found, level=Level.WARNING, code=_WARNINGS.get(found.code, found.code))


class _Words:
    def __init__(self, cluster: Cluster, finding: Finding) -> None:
        self.cluster = cluster
        self.run = finding.streams
        self.verdict = finding.verdict
        self.world = finding.world

    def step(self, place: Place) -> Step:
        return self.run.streams[place[0]].steps[place[1]]

    def message(self, place: Place) -> int:
        return self.run.streams[place[0]].messages[place[1]]

    def note(self, place: Place, text: str) -> Note:
        return Note(text, self.run.streams[place[0]].site(place[1]).where)

    def assumed(self) -> tuple[Note, ...]:
        text = str(self.world)
        return (Note(f"in a run with {text}"),) if text else ()

    def pipe(self, step: Step) -> str:
        """Empty when there is only one."""
        return f" of pipe {step.pipe}" if len(self.cluster.pipes) > 1 else ""

    def slot(self, step: Step) -> str:
        return f"slot {step.tag} of {step.direction.name}{self.pipe(step)}"

    def what(self, place: Place) -> str:
        """What a step of a flag waits for, or gives."""
        step = self.step(place)
        return f"{self.slot(step)} is {step.role}"

    def error(self, diag: Sink, place: Place, text: str, code: str, notes: list[Note], todo: str) -> None:
        site = self.run.streams[place[0]].site(place[1])
        head = f"'{site.op}' op " if site.op else ""
        diag.error(head + text, site.where, code=code, notes=(*notes, *self.assumed()), todo=todo)

    # --- deadlocks ----------------------------------------------------------------------------------------------------

    def deadlock(self, diag: Sink, todo: str) -> None:
        chain = self.verdict.deadlock
        last = chain[-1]
        if last.payer is None:
            self.unpaid(diag, todo)
            return
        notes: list[Note] = []
        for index, each in enumerate(chain):
            if index:
                text = f"{each.at[0].title} waits here until {self.what(each.at)} (message {self.message(each.at)})"
                notes.append(self.note(each.at, text))
            assert each.payer is not None
            says = "says so" if self.step(each.payer).role == "ready" else "frees it"
            text = f"{each.payer[0].title} {says} only here, with message {self.message(each.payer)}"
            notes.append(self.note(each.payer, text))
        first = chain[0]
        who = "the cores wait for one another" if len(chain) > 1 else f"{first.at[0].title} waits for itself"
        number = self.message(first.at)
        text = f"never ends: {who}: {first.at[0].title} waits until {self.what(first.at)} (message {number})"
        self.error(diag, first.at, text, DEADLOCK, notes, todo)

    def unpaid(self, diag: Sink, todo: str) -> None:
        """Somebody waits for what nobody does."""
        last = self.verdict.deadlock[-1].at
        step = self.step(last)
        notes = [
            self.note(each.at, f"{each.at[0].title} waits behind it until {self.what(each.at)}")
            for each in self.verdict.deadlock[:-1]
        ]
        direction = step.direction
        pushes, pops = self.counts(step.pipe, direction, last[0])
        missing = "pushes" if step.role == "ready" else "frees"
        count = f"{pushes} pushed, {pops} popped"
        text = f"never ends: nobody {missing} message {self.wanted(last)} of {direction.name}{self.pipe(step)}"
        self.error(diag, last, f"{text} ({count})", DEADLOCK, notes, todo)

    def wanted(self, place: Place) -> int:
        """The message that a stuck step is missing: its own, or the one whose slot it wants."""
        step = self.step(place)
        number = self.message(place)
        return number if step.role == "ready" else number - self.cluster.pipe(step.pipe).slot_num

    def counts(self, pipe: int, direction: Direction, agent: Agent) -> tuple[int, int]:
        """Pushes and pops of a direction in this run, of the Cube and the lane that is concerned."""
        lane = agent if agent is not Agent.CUBE else Agent.AIV0
        found: list[int] = []
        for kind, who in ((Push, direction.producer), (Pop, direction.consumer)):
            stream = self.run.streams[Agent.CUBE if who is Agent.CUBE.kind else lane]
            seen = {
                number
                for step, number, op in zip(stream.steps, stream.messages, stream.ops, strict=True)
                if step.pipe == pipe and step.direction is direction and isinstance(op, kind)
            }
            found.append(len(seen))
        return found[0], found[1]

    # --- races and flags ----------------------------------------------------------------------------------------------

    def race(self, race: Race, diag: Sink, todo: str) -> None:
        second = self.step(race.second)
        who, number = race.second[0].title, self.message(race.second)
        if race.kind is RaceKind.STALE or race.first is None:
            text = f"reads another message than its own: {who} reads {self.slot(second)} for message {number}"
            notes = [] if race.first is None else [self.wrote(race.first)]
            self.error(diag, race.second, text, RACE, notes, todo)
            return
        first = self.step(race.first)
        if second.accesses[0].write:
            text = f"is a data race: {who} and {race.first[0].title} write {self.slot(second)} at the same time"
        else:
            text = f"is a data race: {who} may read {self.slot(second)}, for message {number}, while it is overwritten"
        notes = [self.wrote(race.first)] if first.accesses[0].write else []
        notes += self.freed_here(race)
        self.error(diag, race.second, text, RACE, notes, todo)

    def wrote(self, place: Place) -> Note:
        return self.note(place, f"{place[0].title} writes message {self.message(place)} there")

    def freed_here(self, race: Race) -> list[Note]:
        """The SET that lets the writer in too early: the last free of that slot before the read."""
        agent, at = race.second
        stream = self.run.streams[agent]
        read = stream.steps[at]
        for index in range(at - 1, -1, -1):
            step = stream.steps[index]
            if step.act is Act.SET and step.role == "free" and step.tag == read.tag and step.pipe == read.pipe:
                if stream.messages[index] >= stream.messages[at]:
                    return [self.note((agent, index), f"{agent.title} frees {self.slot(step)} here, before it is read")]
                return []
        return []

    def twice(self, place: Place, diag: Sink, todo: str) -> None:
        step = self.step(place)
        verb = "frees" if step.role == "free" else "says ready"
        text = f"sets a flag that may be set already: {place[0].title} {verb} {self.slot(step)} once too often"
        self.error(diag, place, text, FLAGS, [], todo)

    def left(self, diag: Sink, todo: str) -> None:
        """The program ends, and leaves flags to the next that differ from those it met."""
        flag = self.verdict.left[0]
        for pipe in self.cluster.pipes:
            for direction in pipe.directions:
                tags = range(pipe.slot_num)
                if any(pipe.flag(direction, tag) == flag.number for tag in tags):
                    lane = Agent(1 + flag.lane)
                    pushes, pops = self.counts(pipe.id, direction, lane)
                    if pushes != pops or len(self.cluster.pipes) * len(pipe.directions) == 1:
                        count = len(self.verdict.left)
                        text = f"{count} flag{'s are' if count > 1 else ' is'} left otherwise than set up, so whatever"
                        text += " runs next on these flags goes wrong: "
                        text += f"{direction.name} has {pushes} pushes and {pops} pops"
                        head = f"'{pipe.cube.op}' op " if pipe.cube.op else ""
                        diag.error(head + text, pipe.cube.where, code=FLAGS, notes=self.assumed(), todo=todo)
                        return
        diag.error(f"{flag} is left otherwise than set up", code=FLAGS, notes=self.assumed(), todo=todo)
