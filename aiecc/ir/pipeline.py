"""Pipelines of passes: their text form, and running them.

`builtin.module(aie.device(aie-assign-lock-ids{a=b c=d}),cse)`: names, options in braces, an op's name with passes in
parentheses for the ops of that name right inside. A pass that wants another op than the one it is given runs on the
nearest such ops inside.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from xdsl.ir import Operation

from aiecc.base.diag import Sink, refuse
from aiecc.base.nearest import nearest
from aiecc.ir.passes.base import ANY, MODULE, Pass, option_name
from aiecc.ir.registry import find_pass, pass_names
from aiecc.ir.verify import verify

CODE = "E0901"


@dataclass(frozen=True)
class Nest:
    """Passes for the ops of one name right inside the current one (the current one itself, at the top)."""

    anchor: str
    steps: tuple[Pass | Nest, ...]


# --- the text form ----------------------------------------------------------------------------------------------------


def parse_pipeline(text: str) -> Nest:
    """A pipeline from its text. Without an op around it, it is meant for `builtin.module`.

    Raises Refused (E0901) when a name is unknown, an option is wrong or the text is malformed.
    """
    parser = _Text(text.strip())
    steps = parser.steps(top=True)
    if len(steps) == 1 and isinstance(steps[0], Nest) and steps[0].anchor in (MODULE, "any"):
        return Nest(MODULE, steps[0].steps)
    return Nest(MODULE, steps)


class _Text:
    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0

    def fail(self, why: str, at: int | None = None) -> NoReturn:
        column = (self.pos if at is None else at) + 1
        refuse(f"MLIR Textual PassPipeline Parser:1:{column}: error: {why}", code=CODE)

    def steps(self, *, top: bool) -> tuple[Pass | Nest, ...]:
        found: list[Pass | Nest] = []
        while True:
            self._blanks()
            if not top and self._at(")"):
                break
            if top and self.pos >= len(self.text) and not found:
                break
            found.append(self._step())
            self._blanks()
            if not self._at(","):
                break
            self.pos += 1
        if top and self.pos < len(self.text):
            self.fail("expected ',' after parsing pipeline")
        return tuple(found)

    def _step(self) -> Pass | Nest:
        start = self.pos
        while self.pos < len(self.text) and self.text[self.pos] not in ",(){} \t\n":
            self.pos += 1
        name = self.text[start : self.pos]
        self._blanks()
        if self._at("("):
            self.pos += 1
            steps = self.steps(top=False)
            if not self._at(")"):
                self.fail("expected ')' when parsing pipeline")
            self.pos += 1
            return Nest(name, steps)
        options = self._options() if self._at("{") else ""
        if find_pass(name) is None:
            close = nearest(name, pass_names())
            hint = f"; did you mean '{close}'?" if close else ""
            self.fail(f"'{name}' does not refer to a registered pass or pass pipeline{hint}", start)
        return make_pass(name, options)

    def _options(self) -> str:
        """What stands between the braces; inner braces and quotes balance."""
        start = self.pos + 1
        depth = 0
        quote = ""
        while self.pos < len(self.text) and (depth or self.pos < start):
            char = self.text[self.pos]
            self.pos += 1
            if quote:
                quote = "" if char == quote else quote
            elif char in "\"'":
                quote = char
            else:
                depth += (char in "{[(") - (char in ")]}")
        if depth:
            self.fail("missing closing '}' while processing pass options", start - 1)
        return self.text[start : self.pos - 1]

    def _at(self, char: str) -> bool:
        return self.text.startswith(char, self.pos)

    def _blanks(self) -> None:
        while self.pos < len(self.text) and self.text[self.pos] in " \t\n":
            self.pos += 1


# --- options ----------------------------------------------------------------------------------------------------------


def make_pass(name: str, options: str = "") -> Pass:
    """A pass from its name and the text of its options (`a=b c={d}`).

    Raises Refused (E0901) for an unknown pass or option, or a value that does not fit.
    """
    cls = find_pass(name)
    if cls is None:
        close = nearest(name, pass_names())
        todo = f"did you mean '{close}'?" if close else f"the passes are: {', '.join(pass_names())}"
        refuse(f"'{name}' is not a pass", code=CODE, todo=todo)
    fields = {option_name(field): field for field in dataclasses.fields(cls)}
    values: dict[str, Any] = {}
    for key, value in split_options(options):
        field = fields.get(key)
        if field is None:
            have = ", ".join(sorted(fields))
            todo = f"its options are: {have}" if have else "it has no options"
            refuse(f"<Pass-Options-Parser>: no such option {key} of pass '{name}'", code=CODE, todo=todo)
        values[field.name] = _value(name, key, value, field.default)
    return cls(**values)


def split_options(text: str) -> Iterator[tuple[str, str]]:
    """`a=1 b={2 3} c` as pairs; braces and quotes around a value are taken off."""
    pos, size = 0, len(text)
    while pos < size:
        if text[pos] in " \t\n":
            pos += 1
            continue
        start, depth, quote = pos, 0, ""
        while pos < size and (depth or quote or text[pos] not in " \t\n"):
            char = text[pos]
            if quote:
                quote = "" if char == quote else quote
            elif char in "\"'":
                quote = char
            else:
                depth += (char in "{[") - (char in "}]")
            pos += 1
        key, _, value = text[start:pos].partition("=")
        if len(value) >= 2 and value[0] + value[-1] in ("{}", '""', "''"):
            value = value[1:-1]
        yield key, value


def _value(name: str, key: str, text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text.lower() in ("true", "1", ""):
            return True
        if text.lower() in ("false", "0"):
            return False
        refuse(f"pass '{name}': '{text}' is not a value for {key}: say true or false", code=CODE)
    if isinstance(default, int):
        try:
            return int(text, 0)
        except ValueError:
            refuse(f"pass '{name}': '{text}' value invalid for integer argument {key}", code=CODE)
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


# --- running ----------------------------------------------------------------------------------------------------------


Watch = Callable[[str, Pass, Operation], None]


def run(pipeline: Nest, op: Operation, sink: Sink, *, verify_each: bool = True, watch: Watch | None = None) -> bool:
    """Run a pipeline on an op of its anchor's name, in place. False when something went wrong; the sink says what.

    verify_each: check the op after every pass, as `mlir-opt` does.
    watch: called with `before`, `after` or `failed`, the pass, and the op it runs on.
    """
    for step in pipeline.steps:
        if isinstance(step, Nest):
            for inner in list(_children(op, step.anchor)):
                if not run(step, inner, sink, verify_each=verify_each, watch=watch):
                    return False
            continue
        for target in targets(step, op):
            if watch is not None:
                watch("before", step, target)
            step.apply(target, sink)
            if verify_each and not sink.failed:
                sink.extend(verify(target, first_only=True))
            if watch is not None:
                watch("failed" if sink.failed else "after", step, target)
            if sink.failed:
                return False
    return True


def targets(step: Pass, op: Operation) -> list[Operation]:
    """The ops a pass runs on: `op` itself, or the nearest ops inside that it is made for."""
    if step.anchor in (ANY, op.name):
        return [op]
    found: list[Operation] = []
    pending = [op]
    while pending:
        for inner in _children(pending.pop(), ""):
            if inner.name == step.anchor:
                found.append(inner)
            elif inner.regions:
                pending.append(inner)
    return found


def _children(op: Operation, name: str) -> Iterator[Operation]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                if not name or name in ("any", inner.name):
                    yield inner
