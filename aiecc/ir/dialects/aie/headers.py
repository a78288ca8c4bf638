"""The packet header rule that many ops share: a header at this level already has its id."""

from __future__ import annotations

from xdsl.ir import Attribute

from aiecc.ir.dialects.aie.attrs import PacketInfoAttr
from aiecc.ir.dialects.base import DialectOp


def verify_header(op: DialectOp, what: str, attr: Attribute | None) -> None:
    """Refuse a header without `pkt_id`; `what` is the name of the attribute that holds it."""
    if isinstance(attr, PacketInfoAttr) and attr.data.pkt_id is None:
        raise op.error(f"{what} has no pkt_id; allocation assigns one, so a header at this level must carry it")
