"""What makes a switch to another device wrong."""

from __future__ import annotations

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.tiles import DeviceOp, device_of
from aiecc.ir.dialects.aiex.control import ConfigureOp
from aiecc.ir.dialects.base import text_of


def verify_configure_device(op: ConfigureOp) -> None:
    """The device exists and is of the same kind."""
    device = device_of(op)
    module = device.parent_op() if device is not None else None
    if device is None or module is None:
        raise op.error("aiex.configure must be inside of a module", bare=True)
    found: Operation | None = None
    for other in module.regions[0].block.ops:
        if text_of(other.properties.get("sym_name", other.attributes.get("sym_name"))) == op.symbol:
            found = other
            break
    if found is None:
        raise op.error(f"No such device: '@{op.symbol}'", bare=True)
    if not isinstance(found, DeviceOp):
        raise op.error(f"Not a device: '@{op.symbol}'", bare=True)
    if found.device is not device.device:
        raise op.error(f"Device types do not match: '{device.device.word}' vs. '{found.device.word}'", bare=True)
