"""Why a task ran, in words: what differs from the last build's record of the same task."""

from __future__ import annotations

from aiecc.engine.reads import ABSENT, CONTENT, FileStates
from aiecc.engine.store import Component, Record, Store

_MOST = 4


def explain(store: Store, address: str, components: tuple[Component, ...], states: FileStates) -> str:
    """The reason why the task at `address` has to run, for `-v` and `aiecc why`."""
    name = store.last(address)
    if name is None:
        return "first build"
    if name == "":
        return "it failed last time"
    record = store.record(name)
    if record is None:
        return "what the last build kept of it is gone or damaged"
    reasons = _components(record.components, components) or _reads(record, states)
    if not reasons:
        return "a file that it uses is gone or damaged in the store"
    more = f", and {len(reasons) - _MOST} more" if len(reasons) > _MOST else ""
    return ", ".join(reasons[:_MOST]) + more


def _components(old: tuple[Component, ...], new: tuple[Component, ...]) -> list[str]:
    before = {c.label: c for c in old}
    after = {c.label: c for c in new}
    reasons: list[str] = []
    for label, component in after.items():
        known = before.get(label)
        if known is None:
            reasons.append(f"{label} is new")
        elif known.digest != component.digest:
            reasons.append(_change(label, known.text, component.text))
    reasons.extend(f"{label} is gone" for label in before if label not in after)
    if not reasons and old != new:
        reasons.append("the order of plugins changed")
    return reasons


def _change(label: str, old: str, new: str) -> str:
    """`options LinkOptions changed (level: 1 -> 2)`; the texts are `name=value` lines."""
    before, after = _fields(old), _fields(new)
    parts = [
        f"{name}: {before.get(name, '-')} -> {after.get(name, '-')}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]
    return f"{label} changed" + (f" ({', '.join(parts[:_MOST])})" if parts else "")


def _fields(text: str) -> dict[str, str]:
    parted = [line.partition("=") for line in text.splitlines()]
    return {name: value for name, _, value in parted}


def _reads(record: Record, states: FileStates) -> list[str]:
    reasons: list[str] = []
    for path, mode, state in record.reads:
        now = states.state(path, mode)
        if now == state:
            continue
        if now == ABSENT:
            reasons.append(f"{path} is gone")
        elif state == ABSENT:
            reasons.append(f"{path} appeared")
        else:
            reasons.append(f"{path} changed" if mode == CONTENT else f"{path} is something else now")
    return reasons
