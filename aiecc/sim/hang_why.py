"""Why a net stands still, in the user's words: which core waits for what, and who would have to give it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aiecc.base.diag import Note
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.sim.hang_core import GIVE, PUT, RECEIVE, SEND, TAKE, TAKE_EQUAL, Action
from aiecc.sim.hang_net import Member, Net
from aiecc.sim.hang_run import End

_LOCK = re.compile(r"(?P<pool>.+)_(?P<side>prod|cons)_lock_(?P<segment>\d+)")
_BINARY = re.compile(r"(?P<pool>.+)_lock_(?P<segment>\d+)")
_CONSUMER = re.compile(r"(?:_\d+)?_cons$")


@dataclass(frozen=True)
class Stuck:
    """`text` says who waits for what, `notes` who waits in turn; `fifos` are those whose depth may matter: none where
    what is waited for is never made, rather than held up."""

    text: str
    where: Span | None
    notes: tuple[Note, ...]
    fifos: tuple[str, ...]
    todo: str = ""


class Why:
    """Looks at the end of a run."""

    def __init__(self, net: Net, end: End, fifos: Mapping[str, ObjectFifoOp]) -> None:
        self.net = net
        self.end = end
        self.fifos = fifos
        self._senders: dict[int, list[int]] = {}
        for stream, sinks in enumerate(net.streams):
            for sink in sinks:
                self._senders.setdefault(sink, []).extend(net.users(stream, SEND))
        self.fine = self._fine()

    def stuck(self) -> Stuck | None:
        """What is wrong; None when everybody who waits has nothing more to do."""
        bad = [m for m in self.end.waiting if self.net.members[m].core is not None and m not in self.fine]
        if not bad:
            return None
        path, cycle = self._path(bad[0])
        cores = [m for m in path if self.net.members[m].core is not None]
        if cycle is not None:
            around = path[cycle:]
            inside = [m for m in around if self.net.members[m].core is not None]
            head = inside[0] if inside else bad[0]
            if head in around:
                at = around.index(head)
                path = around[at:] + around[:at]
        else:
            head = cores[-1]
            path = path[path.index(head) :]
        others = [m for m in path if m != head]
        notes = [Note(self._text(m), self._action(m)[3]) for m in others]
        if cycle is not None:
            notes.append(Note(f"which waits for {self.net.members[path[0]].name}, so none of them can go on"))
        else:
            notes.extend(self._last(path[-1]))
        more = [self.net.members[m].name for m in bad if m not in path]
        if more:
            notes.append(Note(f"{_listed(more)} then {'waits' if len(more) == 1 else 'wait'} for ever, too"))
        fifos = dict.fromkeys(f for m in path if cycle is not None and (f := self._fifo_of(m)) is not None)
        todo = "" if cycle is not None else self._release(path[-1])
        return Stuck(self._text(head), self._action(head)[3], tuple(notes), tuple(fifos), todo)

    # --- who waits for whom -------------------------------------------------------------------------------------------

    def _action(self, member: int) -> Action:
        return self.net.members[member].trace.actions[self.end.waiting[member]]

    def _givers(self, member: int) -> list[int]:
        """Those who could end a wait."""
        code, number, amount, _ = self._action(member)
        if code in (TAKE, TAKE_EQUAL):
            found = self.net.givers(number, amount)
        elif code == SEND:
            tight = [s for s in self.net.streams[number] if self._full(s)]
            found = [m for s in tight for m in self.net.users(s, RECEIVE)]
            if not tight:
                # Somebody else's packet is on its way there.
                others = (m for s in self.net.streams[number] for m in self._senders.get(s, ()))
                found = [m for m in others if m != member and m in self.end.waiting and self.end.left[m] >= 0]
        elif code == RECEIVE:
            found = self._senders.get(number, [])
        else:
            found = self.net.users(number, PUT if code != PUT else PUT + 1)
        return [m for m in dict.fromkeys(found) if m != member]

    def _full(self, sink: int) -> bool:
        return not self.net.open[sink] and self.end.wanted[sink] <= self.end.queued[sink]

    def _more_to_do(self, member: int) -> bool:
        """Whether it stands before or outside of its endless part."""
        loop = self.net.members[member].trace.loop
        return loop is None or self.end.waiting[member] < loop

    def _fine(self) -> set[int]:
        """Who may wait for ever: those served only by actors that are done, and who would go on for ever anyway."""
        fine = set(self.end.ended)
        rest = {
            m: givers
            for m in self.end.waiting
            if (givers := self._givers(m)) and not (self.net.members[m].core is not None and self._more_to_do(m))
        }
        grown = True
        while grown:
            grown = False
            for member, givers in list(rest.items()):
                if all(g in fine for g in givers):
                    fine.add(member)
                    del rest[member]
                    grown = True
        return fine

    def _path(self, start: int) -> tuple[list[int], int | None]:
        """The waits one after the other, and where they come back to (None: they end)."""
        path = [start]
        while True:
            givers = [g for g in self._givers(path[-1]) if g in self.end.waiting]
            if not givers:
                return path, None
            following = next((g for g in givers if g not in self.fine), givers[0])
            if following in path:
                return path, path.index(following)
            path.append(following)

    # --- words --------------------------------------------------------------------------------------------------------

    def _last(self, member: int) -> Iterator[Note]:
        """Why nobody gives what the last one waits for."""
        givers = self._givers(member)
        for giver in givers:
            other = self.net.members[giver]
            done = "has nothing more to do" if giver in self.end.ended else "goes on without giving it"
            yield Note(f"{other.name} {done}", other.where)
        if not givers:
            yield from self._nobody(member)

    def _nobody(self, member: int) -> Iterator[Note]:
        code, number, _, _ = self._action(member)
        if code not in (TAKE, TAKE_EQUAL):
            yield Note("nobody is there for that")
            return
        match = _LOCK.fullmatch(self.net.locks[number].name)
        made = match is not None and match["side"] == "cons"
        yield Note(f"nobody in the design {'makes one' if made else 'gives it back'}")
        partner = self._partner(number)
        for other in self.net.users(partner, TAKE) if partner is not None else ():
            who = self.net.members[other]
            where = next((a[3] for a in who.trace.actions if a[0] == TAKE and a[1] == partner), who.where)
            yield Note(f"{who.name} acquires objects and never releases one", where)

    def _release(self, member: int) -> str:
        """What to type where objects are taken and never given back."""
        code, number, _, _ = self._action(member)
        match = _LOCK.fullmatch(self.net.locks[number].name) if code == TAKE else None
        fifo = self._fifo(number) if code == TAKE else None
        partner = self._partner(number) if code == TAKE else None
        if match is None or match["side"] != "prod" or fifo is None or partner is None or self._givers(member):
            return ""
        cores = [self.net.members[m].name for m in self.net.users(partner, TAKE) if self.net.members[m].core]
        return f"release what {' and '.join(cores)} acquires of @{fifo}" if cores else ""

    def _text(self, member: int) -> str:
        who = self.net.members[member]
        code, number, amount, _ = self._action(member)
        if code in (TAKE, TAKE_EQUAL):
            return f"{who.name} waits for {self._wanted(member, who, number, amount)}"
        if code == SEND:
            tight = next((s for s in self.net.streams[number] if self._full(s)), self.net.streams[number][0])
            left = self.end.left[member]
            return f"{who.name} has {left if left > 0 else amount} bytes that nobody takes at {self._port(tight)}"
        if code == RECEIVE:
            return f"{who.name} waits for {self.end.wanted[number]} more bytes of {amount} at {self._port(number)}"
        source, dest = self.net.cascades[number]
        return f"{who.name} waits for {'room' if code == PUT else 'a word'} on the cascade from {source} to {dest}"

    def _port(self, sink: int) -> str:
        return f"stream {self.net.sinks[sink].name}"

    def _wanted(self, member: int, who: Member, number: int, amount: int) -> str:
        lock = self.net.locks[number]
        value = self.end.values[number]
        match = _LOCK.fullmatch(lock.name)
        fifo = self._fifo(number)
        if fifo is None or match is None or self.net.binary:
            of = f" of fifo @{fifo}" if fifo is not None else ""
            goal = "become" if self.net.binary else "reach"
            return f"lock {lock.name}{of} to {goal} {amount} (it is {value})"
        consumes = match["side"] == "cons"
        scale = self._scale(fifo, match["pool"])
        need, there = -(-amount // scale), value // scale
        things = "an object" if need == 1 else f"{need} objects"
        what = f"{things} of fifo @{fifo}" if consumes else f"room for {things} in fifo @{fifo}"
        if who.core is None:
            return what
        holds = self._held(member, number) // scale
        found = "" if not there else f", {there} {'is' if there == 1 else 'are'} there"
        return f"{what} (acquire {'Consume' if consumes else 'Produce'} {holds + need}, it holds {holds}{found})"

    def _held(self, member: int, number: int) -> int:
        """Units taken and not given on since. Whole rounds of an endless part change nothing."""
        partner = self._partner(number)
        actions = self.net.members[member].trace.actions[: self.end.waiting[member]]
        taken = sum(a[2] for a in actions if a[0] == TAKE and a[1] == number)
        given = sum(a[2] for a in actions if a[0] == GIVE and a[1] == partner)
        return max(0, taken - given)

    def _partner(self, number: int) -> int | None:
        """The other lock of a pool's pair."""
        match = _LOCK.fullmatch(self.net.locks[number].name)
        if match is None:
            return None
        side = "prod" if match["side"] == "cons" else "cons"
        name = f"{match['pool']}_{side}_lock_{match['segment']}"
        return next((at for at, lock in enumerate(self.net.locks) if lock.name == name), None)

    def _fifo(self, number: int) -> str | None:
        name = self.net.locks[number].name
        match = (_BINARY if self.net.binary else _LOCK).fullmatch(name)
        if match is None:
            return None
        pool = match["pool"]
        return next((f for f in (pool, _CONSUMER.sub("", pool)) if f in self.fifos), None)

    def _fifo_of(self, member: int) -> str | None:
        code, number, _, _ = self._action(member)
        return self._fifo(number) if code in (TAKE, TAKE_EQUAL) else None

    def _scale(self, fifo: str, pool: str) -> int:
        """Units of a lock per object: a pool whose objects leave several times counts each time."""
        return (self.fifos[fifo].repeat_count or 1) if pool == fifo else 1


def _listed(names: list[str]) -> str:
    shown = names[:6]
    rest = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(shown) + rest
