"""How many objects a core can hold at each of its acquires and releases: bounds known before it runs.

An acquire of n makes h held objects max(n, h), a release of n makes them max(0, h - n). Both, and every sequence of
them, have the form max(floor, h + slope) with a slope that is never above zero; so a branch, a loop or a whole block
is summed up by one such function for the lower bound and one for the upper, whatever its length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Block, Operation, Region

Key = str
_NEVER = -(1 << 40)
"""A slope that makes the incoming count irrelevant."""


class Bounds(NamedTuple):
    """The fewest and the most objects that can be held."""

    low: int
    high: int


@dataclass(frozen=True)
class Access:
    """What one op does: `count` objects of the endpoint `key` to be held in all, or given back."""

    key: Key
    count: int
    acquires: bool


class _Step(NamedTuple):
    """max(floor, h + slope)"""

    floor: int
    slope: int

    def after(self, first: _Step) -> _Step:
        return _Step(max(self.floor, first.floor + self.slope), max(first.slope + self.slope, _NEVER))

    def of(self, held: int) -> int:
        return max(self.floor, held + self.slope)


_SAME = _Step(0, 0)
_ANY = _Step(0, _NEVER)


class _Effect(NamedTuple):
    """What code does to the lower and to the upper bound."""

    low: _Step
    high: _Step

    def after(self, first: _Effect) -> _Effect:
        return _Effect(self.low.after(first.low), self.high.after(first.high))

    def of(self, held: Bounds) -> Bounds:
        return Bounds(self.low.of(held.low), self.high.of(held.high))


_NOTHING = _Effect(_SAME, _SAME)
_Effects = dict[Key, _Effect]


def _either(effects: list[_Effect]) -> _Effect:
    """One of several ways."""
    return _Effect(
        _Step(min(e.low.floor for e in effects), min(e.low.slope for e in effects)),
        _Step(max(e.high.floor for e in effects), max(e.high.slope for e in effects)),
    )


def _repeated(body: _Effect) -> _Effect:
    """Any number of times, none included."""
    return _Effect(_SAME if body.low.slope >= 0 else _ANY, _Step(body.high.floor, 0))


def _head(body: _Effect, held: Bounds) -> Bounds:
    """What can be held whenever a loop's body starts, when `held` is what its first round finds."""
    low = held.low if body.low.slope >= 0 else min(held.low, body.low.floor)
    return Bounds(low, max(held.high, body.high.floor))


class HeldBounds:
    """`before[op]`: the bounds right before each access of a core's body.

    `depths` says how many objects the pool of an endpoint has: nobody holds more. Code in a region with several
    blocks, or below an op that is no scf branch or loop, gets the bounds 0 and that depth: true, if not close.
    """

    def __init__(self, body: Region, accesses: Mapping[Operation, Access], depths: Mapping[Key, int]) -> None:
        self.before: dict[Operation, Bounds] = {}
        self._accesses = accesses
        self._depths = depths
        self._inside: dict[Operation, set[Key]] = {}
        self._effects: dict[Block, _Effects] = {}
        for op, access in accesses.items():
            around = op.parent_op()
            while around is not None and around.regions and body.parent is not around:
                self._inside.setdefault(around, set()).add(access.key)
                around = around.parent_op()
        self._region(body, {key: Bounds(0, 0) for key in depths})

    # --- summing up, inside out ---------------------------------------------------------------------------------------

    def _block_effect(self, block: Block) -> _Effects:
        known = self._effects.get(block)
        if known is not None:
            return known
        found: _Effects = {}
        for op in block.ops:
            for key, effect in self._effect(op).items():
                found[key] = effect.after(found.get(key, _NOTHING))
        self._effects[block] = found
        return found

    def _effect(self, op: Operation) -> _Effects:
        access = self._accesses.get(op)
        if access is not None:
            step = _Step(access.count, 0) if access.acquires else _Step(0, -access.count)
            return {access.key: _Effect(step, step)}
        keys = self._inside.get(op)
        if keys is None:
            return {}
        parts = _parts(op)
        if parts is None:
            return {key: self._unknown(key) for key in keys}
        effects = [{} if block is None else self._block_effect(block) for block in parts]
        if op.name == "scf.for":
            return {key: _repeated(effects[0].get(key, _NOTHING)) for key in keys}
        if op.name == "scf.while":
            before, after = effects
            found: _Effects = {}
            for key in keys:
                test, rest = before.get(key, _NOTHING), after.get(key, _NOTHING)
                found[key] = test.after(_repeated(rest.after(test)))
            return found
        return {key: _either([e.get(key, _NOTHING) for e in effects]) for key in keys}

    def _unknown(self, key: Key) -> _Effect:
        return _Effect(_ANY, _Step(self._depths[key], _NEVER))

    # --- entering what is known, outside in ---------------------------------------------------------------------------

    def _region(self, region: Region, held: dict[Key, Bounds]) -> None:
        for number, block in enumerate(region.blocks):
            self._block(block, held if not number else {key: Bounds(0, n) for key, n in self._depths.items()})

    def _block(self, block: Block, held: dict[Key, Bounds]) -> None:
        for op in block.ops:
            access = self._accesses.get(op)
            if access is not None:
                self.before[op] = held[access.key]
            elif op in self._inside:
                self._nested(op, held)
            for key, effect in self._effect(op).items():
                held[key] = effect.of(held[key])

    def _nested(self, op: Operation, held: Mapping[Key, Bounds]) -> None:
        """The bounds inside `op`, and nothing outside it."""
        keys = self._inside[op]
        mine = {key: held[key] for key in keys}
        parts = _parts(op)
        if parts is None:
            for region in op.regions:
                self._region(region, {key: Bounds(0, self._depths[key]) for key in keys})
        elif op.name == "scf.for":
            body = self._block_effect(_some(parts[0]))
            self._block(_some(parts[0]), {k: _head(body.get(k, _NOTHING), b) for k, b in mine.items()})
        elif op.name == "scf.while":
            test, rest = self._block_effect(_some(parts[0])), self._block_effect(_some(parts[1]))
            round_ = {k: rest.get(k, _NOTHING).after(test.get(k, _NOTHING)) for k in keys}
            start = {k: _head(round_[k], b) for k, b in mine.items()}
            self._block(_some(parts[0]), dict(start))
            self._block(_some(parts[1]), {k: test.get(k, _NOTHING).of(b) for k, b in start.items()})
        else:
            for block in parts:
                if block is not None:
                    self._block(block, dict(mine))


def _parts(op: Operation) -> list[Block | None] | None:
    """The blocks of a structured op, None for an arm that is left out; None for any other op."""
    if op.name not in ("scf.for", "scf.while", "scf.if", "scf.index_switch", "scf.execute_region"):
        return None
    if any(len(region.blocks) > 1 for region in op.regions):
        return None
    return [region.blocks.first for region in op.regions]


def _some(block: Block | None) -> Block:
    assert block is not None
    return block
