"""What a device declares, by kind and name."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.tiles import DeviceOp, device_of
from aiecc.ir.dialects.base import text_of
from aiecc.ir.memo import remembered

OpT = TypeVar("OpT", bound=Operation)


def find_named(op: Operation, name: str, kind: type[OpT]) -> OpT | None:
    """The first op of a kind (exactly that class) and a name that stands directly in the device around an op."""
    device = device_of(op)
    if device is None:
        return None
    found = remembered(("named", device), lambda: _by_name(device)).get((kind, name))
    return found if isinstance(found, kind) else None


def _by_name(device: DeviceOp) -> dict[Hashable, Operation]:
    found: dict[Hashable, Operation] = {}
    for op in device.block.ops:
        name = text_of(op.properties.get("sym_name", op.attributes.get("sym_name")))
        if name is not None:
            found.setdefault((type(op), name), op)
    return found
