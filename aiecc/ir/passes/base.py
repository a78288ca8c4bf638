"""What a pass is. `pipeline.py` runs passes; `passes/__init__.py` lists them by name.

A pass is a frozen dataclass; its fields are its options:

    @dataclass(frozen=True)
    class AssignLockIds(Pass):
        name: ClassVar[str] = "aie-assign-lock-ids"
        anchor: ClassVar[str] = "aie.device"
        summary: ClassVar[str] = "Give every lock an id"

        def apply(self, op: Operation, sink: Sink) -> None: ...
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink

MODULE = "builtin.module"
DEVICE = "aie.device"
ANY = ""


@dataclass(frozen=True)
class Pass(ABC):
    """One transformation of the IR.

    name: what a pipeline calls it, upstream's spelling.
    anchor: the op it runs on: `builtin.module`, `aie.device`, or "" for any op it is nested in.
    summary: one line for `--help`.
    """

    name: ClassVar[str]
    anchor: ClassVar[str] = MODULE
    summary: ClassVar[str] = ""

    @abstractmethod
    def apply(self, op: Operation, sink: Sink) -> None:
        """Change `op` in place. Errors go to the sink, at the user's position; an error there stops the pipeline.

        Passes are pure otherwise: no file, clock or environment is read, and equal inputs give equal outputs.
        """


def option(default: Any, *, name: str = "", help: str = "") -> Any:
    """A pass option with a help line, or one whose spelling in a pipeline is not the field's.

    `clone_reuse` is spelt `clone-reuse` unless `name` says otherwise. Options are bool, int, str or tuple[str, ...].
    """
    return dataclasses.field(default=default, metadata={"option": name, "help": help})


def option_name(field: dataclasses.Field[Any]) -> str:
    """How a pipeline spells the option that a field holds."""
    return field.metadata.get("option") or field.name.replace("_", "-")
