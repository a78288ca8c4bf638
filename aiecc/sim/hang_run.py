"""Running a net: counters only. Every order leads to the same end, so one order is enough.

A run ends when nobody can go on, or when the whole net is as it was before: then what moved in between goes on for
ever, and what did not move never will.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aiecc.sim.hang_core import GIVE, PUT, RECEIVE, SEND, TAKE, TAKE_EQUAL, Action, Undecided
from aiecc.sim.hang_net import ENDLESS, Net

_CASCADE_ROOM = 2
_TURN = 256
"""The most actions of one member before others get their turn."""


@dataclass(frozen=True)
class End:
    """How a run ended: who waits, at which place of the list; who reached the end; all others go on for ever.

    `values` are the locks' values, `queued` the bytes at each sink, `wanted` what each reader still asks for,
    `left` what each member has still to send or get of its action.
    """

    waiting: dict[int, int]
    ended: frozenset[int]
    values: Sequence[int]
    queued: Sequence[int]
    wanted: Sequence[int]
    left: Sequence[int]
    steps: int


class Run:
    """A net on its way."""

    def __init__(self, net: Net, slack: int, limit: int) -> None:
        self.net = net
        self.slack = slack
        self.limit = limit
        count = len(net.members)
        self.at = [0] * count
        self.left = [-1] * count
        self.values = [lock.value for lock in net.locks]
        self.holders = [-1] * len(net.locks)
        self.queued = [0] * len(net.sinks)
        self.wanted = [0] * len(net.sinks)
        self.words = [0] * len(net.cascades)
        # Who waits for a lock, for words at a sink, for room at a sink, and at a cascade.
        self.lock_waits: list[list[int]] = [[] for _ in net.locks]
        self.word_waits: list[list[int]] = [[] for _ in net.sinks]
        self.room_waits: list[list[int]] = [[] for _ in net.sinks]
        self.cascade_waits: list[list[int]] = [[] for _ in net.cascades]
        # Where streams come together: whose packet is under way to a sink, and whose wait to be let through.
        self.owners = [-1] * len(net.sinks)
        self.pending: list[int] = []
        self.ready: list[int] = list(range(count))
        self.ended: set[int] = set()
        self.moved = [0] * count
        self.round = 0
        self.steps = 0

    def run(self) -> End:
        saved: tuple[list[int], ...] = ()
        since, next_save = 0, 1
        while self.ready:
            self.round += 1
            now, self.ready = self.ready, []
            for member in now:
                if self._turn(member):
                    self.ready.append(member)
            if self.steps > self.limit:
                raise Undecided("it takes more steps than are looked at")
            if saved and self._state() == saved:
                return self._end(since)
            if self.round == next_save:
                # Brent's way: the distance doubles, so a period of any length is found in the end.
                saved = tuple(part.copy() for part in self._state())
                since = self.round
                next_save *= 2
        return self._end(self.round)

    # --- packets that come together: for `hang_merge` -----------------------------------------------------------------

    def settle(self) -> None:
        """Go on until only packets wait to be let through. Raises Undecided when that never comes."""
        before: tuple[list[int], ...] | None = None
        rounds, save = 0, 1
        while self.ready:
            self.round += 1
            now, self.ready = self.ready, []
            for member in now:
                if self._turn(member):
                    self.ready.append(member)
            if before is not None and self._state() == before:
                raise Undecided("packets come together beside something that goes on for ever")
            rounds += 1
            if rounds == save:
                before = tuple(part.copy() for part in self._state())
                save *= 2

    def grantable(self) -> list[int]:
        """Whose packet may come next."""
        return [m for m in sorted(self.pending) if all(self.owners[s] == -1 for s in self._merges(m))]

    def grant(self, member: int) -> None:
        for sink in self._merges(member):
            self.owners[sink] = member
        self.pending.remove(member)
        self.ready.append(member)

    def _merges(self, member: int) -> list[int]:
        action = self.net.members[member].trace.actions[self.at[member]]
        return [s for s in self.net.streams[action[1]] if s in self.net.merges]

    def key(self) -> tuple[tuple[int, ...], ...]:
        """All that decides how it goes on."""
        return tuple(map(tuple, (*self._state(), self.owners)))

    def end(self) -> End:
        return self._end(self.round)

    def copy(self) -> Run:
        """The same net at the same place, to go on in another way."""
        other = Run.__new__(Run)
        for name, value in vars(self).items():
            if isinstance(value, list):
                parts: list[object] = value
                setattr(other, name, [p.copy() if isinstance(p, list) else p for p in parts])
            else:
                setattr(other, name, value.copy() if isinstance(value, set) else value)
        return other

    # --- where it stands ----------------------------------------------------------------------------------------------

    def _state(self) -> tuple[list[int], ...]:
        return (self.at, self.left, self.values, self.queued, self.wanted, self.words, self.holders)

    def _end(self, since: int) -> End:
        still = {m for m in range(len(self.at)) if m not in self.ended and self.moved[m] <= since}
        return End(
            {m: self.at[m] for m in still},
            frozenset(self.ended),
            self.values,
            self.queued,
            self.wanted,
            self.left,
            self.steps,
        )

    # --- one member's turn --------------------------------------------------------------------------------------------

    def _turn(self, member: int) -> bool:
        """Act until something has to be waited for. True when the turn is over for others' sake."""
        trace = self.net.members[member].trace
        actions, loop = trace.actions, trace.loop
        end = len(actions)
        at = self.at[member]
        values, limit = self.values, self.limit
        binary = self.net.binary
        host = self.net.host_locks
        done = 0
        go = True
        while done < _TURN:
            if at == end:
                if loop is None:
                    self.ended.add(member)
                    go = False
                    break
                at = loop
            action = actions[at]
            code, number, amount, _ = action
            if code == TAKE and not binary:
                if values[number] >= amount:
                    values[number] -= amount
                elif number not in host:
                    self.lock_waits[number].append(member)
                    go = False
                    break
            elif code == GIVE and not binary:
                if number not in host:
                    value = values[number] + amount
                    if value > self.net.locks[number].limit:
                        raise Undecided(f"lock {self.net.locks[number].name} goes over its range", action[3])
                    values[number] = value
                    self._wake(self.lock_waits[number])
            elif not self._other(member, action):
                go = False
                break
            at += 1
            done += 1
        if done:
            self.moved[member] = self.round
        self.at[member] = at
        self.steps += done + 1
        if self.steps > limit:
            raise Undecided("it takes more steps than are looked at")
        return go

    def _wake(self, waits: list[int]) -> None:
        if waits:
            self.ready += waits
            waits.clear()

    def _other(self, member: int, action: Action) -> bool:
        code, number, amount, _ = action
        if code == SEND:
            return self._send(member, number, amount)
        if code == RECEIVE:
            return self._receive(member, number, amount)
        if code in (TAKE, TAKE_EQUAL, GIVE):
            return self._binary(member, action)
        full = self.words[number] >= _CASCADE_ROOM
        if (code == PUT and full) or (code != PUT and not self.words[number]):
            self.cascade_waits[number].append(member)
            return False
        self.words[number] += 1 if code == PUT else -1
        self._wake(self.cascade_waits[number])
        return True

    def _binary(self, member: int, action: Action) -> bool:
        code, number, amount, where = action
        lock = self.net.locks[number]
        if number in self.net.host_locks:
            return True
        if code == GIVE:
            if self.holders[number] not in (-1, member):
                raise Undecided(f"lock {lock.name} is set while somebody else holds it", where)
            self.holders[number] = -1
            self.values[number] = amount
            self._wake(self.lock_waits[number])
            return True
        if self.holders[number] != -1 or self.values[number] != amount:
            self.lock_waits[number].append(member)
            return False
        self.holders[number] = member
        return True

    def _send(self, member: int, stream: int, amount: int) -> bool:
        sinks = [s for s in self.net.streams[stream] if not self.net.open[s]]
        left = self.left[member]
        merges = self.net.merges and [s for s in self.net.streams[stream] if s in self.net.merges]
        if left < 0:
            if merges and any(self.owners[s] != member for s in merges):
                self.pending.append(member)
                return False
            left = amount
        while left and sinks:
            space = min(self.wanted[s] + self.slack - self.queued[s] for s in sinks)
            if space <= 0:
                for s in sinks:
                    if self.wanted[s] + self.slack <= self.queued[s]:
                        self.room_waits[s].append(member)
                        break
                self.left[member] = left
                return False
            take = min(space, left)
            for s in sinks:
                self.queued[s] += take
                self._wake(self.word_waits[s])
            self.moved[member] = self.round
            if amount != ENDLESS:
                left -= take
        for s in merges or ():
            self.owners[s] = -1
        self.left[member] = -1
        return True

    def _receive(self, member: int, sink: int, amount: int) -> bool:
        if self.left[member] < 0:
            self.left[member] = 0
            self.wanted[sink] = amount
            self._wake(self.room_waits[sink])
        got = min(self.queued[sink], self.wanted[sink])
        if got:
            self.queued[sink] -= got
            self.wanted[sink] -= got
            self.moved[member] = self.round
            self._wake(self.room_waits[sink])
        if self.wanted[sink]:
            self.word_waits[sink].append(member)
            return False
        self.left[member] = -1
        return True


def run(net: Net, slack: int, limit: int) -> End:
    """Run a net with streams that hold `slack` bytes, for at most `limit` actions. Raises Undecided beyond."""
    return Run(net, slack, limit).run()
