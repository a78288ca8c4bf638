"""Nets whose streams come together: every order in which packets can come is tried.

Everything else runs until only packets wait to be let through; then each of them is let through in turn. Letting them
wait that long leaves no order out: nobody can take back a packet that wants through.
"""

from __future__ import annotations

from aiecc.sim.hang_core import Undecided
from aiecc.sim.hang_net import Net
from aiecc.sim.hang_run import End, Run

_STATES = 20_000

Key = tuple[tuple[int, ...], ...]


def ends(net: Net, slack: int, limit: int) -> list[End]:
    """The ends that all orders lead to. Raises Undecided when there are too many, or an order without an end."""
    found: list[End] = []
    done: set[Key] = set()
    path: list[tuple[Key, list[Run]]] = []
    on_path: set[Key] = set()

    def enter(run: Run) -> None:
        run.settle()
        key = run.key()
        if key in on_path:
            raise Undecided("packets from several come together without end, in the order they happen to come")
        if key in done:
            return
        done.add(key)
        if len(done) > _STATES:
            raise Undecided("there are more orders in which packets can come together than are looked at")
        through = run.grantable()
        if not through:
            found.append(run.end())
            return
        nexts = [run.copy() for _ in through]
        for member, after in zip(through, nexts, strict=True):
            after.grant(member)
        path.append((key, nexts))
        on_path.add(key)

    first = Run(net, slack, limit)
    enter(first)
    spent = first.steps
    while path:
        key, nexts = path[-1]
        if not nexts:
            path.pop()
            on_path.discard(key)
            continue
        run = nexts.pop()
        before = run.steps
        run.limit = before + limit - spent
        enter(run)
        spent += run.steps - before
    return found
