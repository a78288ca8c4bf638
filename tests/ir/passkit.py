"""What the tests of passes share: run a pass over a text, look at what came out and at what was said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from aiecc.base.diag import Diagnostic, Sink
from aiecc.ir.dialects.aie import DeviceOp
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.text import parse, print_module

OpT = TypeVar("OpT", bound=Operation)
FILE = "design.mlir"


class Ran:
    """A module after some passes, and what they said."""

    def __init__(self, text: str, *passes: Pass) -> None:
        self.module: ModuleOp = parse(text, FILE)
        self.sink = Sink()
        for one in passes:
            targets = self.devices if one.anchor == DEVICE else [self.module]
            for target in targets:
                if not self.sink.failed:
                    one.apply(target, self.sink)

    @property
    def devices(self) -> list[DeviceOp]:
        return [op for op in self.module.body.block.ops if isinstance(op, DeviceOp)]

    @property
    def device(self) -> DeviceOp:
        return self.devices[0]

    @property
    def text(self) -> str:
        return print_module(self.module)

    @property
    def said(self) -> list[str]:
        return [d.text for d in self.sink.items]

    @property
    def only(self) -> Diagnostic:
        """The one thing that was said."""
        assert len(self.sink.items) == 1, self.said
        return self.sink.items[0]

    def ops(self, kind: type[OpT]) -> Iterator[OpT]:
        return (op for op in self.module.walk() if isinstance(op, kind))

    def lines(self, word: str) -> list[str]:
        """The printed lines that hold a word, without their indentation."""
        return [line.strip() for line in self.text.splitlines() if word in line]


def line_of(text: str, word: str) -> int:
    """The number of the first line of a text that holds a word."""
    return next(i for i, line in enumerate(text.splitlines(), 1) if word in line)
