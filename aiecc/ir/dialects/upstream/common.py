"""What the dialect modules share: ops xDSL lacks, added to its dialects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from xdsl.ir import Attribute, Dialect, Operation, OpTrait
from xdsl.irdl import traits_def
from xdsl.traits import ConstantLike, IsTerminator, Pure


def extend(stock: Dialect, ops: Iterable[type[Operation]] = ()) -> Dialect:
    """A dialect of xDSL with ops added, or replaced where the name is the same."""
    ops = tuple(ops)
    if not ops:
        return stock
    by_name = {op.name: op for op in stock.operations} | {op.name: op for op in ops}
    return Dialect(stock.name, list(by_name.values()), list(stock.attributes))


class Defined(Operation):
    """An op whose parts are what its form reads."""

    PROPS: ClassVar[tuple[str, ...]] = ()
    DEFAULTS: ClassVar[dict[str, Attribute]] = {}

    def __post_init__(self) -> None:
        for name, value in self.DEFAULTS.items():
            self.properties.setdefault(name, value)


def define(
    name: str, *traits: OpTrait, props: str = "", defaults: dict[str, Attribute] | None = None
) -> type[Operation]:
    """An op without a definition of its parts: they are what its form reads. `props` are its inherent attributes."""
    body: dict[str, Any] = {
        "name": name,
        "traits": traits_def(*traits),
        "PROPS": tuple(props.split()),
        "DEFAULTS": defaults or {},
        "__module__": __name__,
    }
    return type("".join(part.capitalize() for part in name.replace(".", "_").split("_")) + "Op", (Defined,), body)


PURE = Pure()
CONSTANT = ConstantLike()
TERMINATOR = IsTerminator()
