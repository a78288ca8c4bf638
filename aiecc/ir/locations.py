"""The aliases of locations in a module printed with `--mlir-print-debuginfo`.

MLIR numbers them by how deep they are nested and then by where they are met first; those of block arguments are
defined above the module, all others below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute

_NO_LOCATION = "unknown"


def parts(location: Attribute) -> list[Attribute]:
    """The locations a location is made of."""
    if isinstance(location, NameLoc):
        return [] if isinstance(location.location, NoneAttr) else [location.location]
    if isinstance(location, CallSiteLoc):
        return [location.callee, location.caller]
    if isinstance(location, FusedLoc) and isinstance(location.locations, ArrayAttr):
        return list(location.locations.data)
    return []


def quoted(text: StringAttr) -> str:
    from aiecc.ir.printer import attribute_text

    return attribute_text(text)


class LocationAliases:
    """Names for the locations of a module."""

    def __init__(self) -> None:
        self.names: dict[Attribute, str] = {}
        self._depth: dict[Attribute, int] = {}
        self._above: set[Attribute] = set()

    def collect(self, met: Iterable[tuple[Attribute, bool]]) -> None:
        """Name locations in the order they are met; True marks those of block arguments."""
        for location, above in met:
            self._visit(location, above=above)
        order = sorted(self._depth, key=self._depth.__getitem__)
        for i, location in enumerate(order):
            self.names[location] = f"#loc{i or ''}"

    def _visit(self, location: Attribute, *, above: bool) -> int:
        if above:
            self._above.add(location)
        known = self._depth.get(location)
        if known is not None and not above:
            return known
        depth = max((self._visit(part, above=above) + 1 for part in parts(location)), default=0)
        self._depth.setdefault(location, depth)
        return depth

    def above(self) -> str:
        return "".join(f"{line}\n" for line in self._lines(above=True))

    def below(self) -> str:
        return "".join(f"\n{line}" for line in self._lines(above=False))

    def _lines(self, *, above: bool) -> Iterator[str]:
        for location, name in self.names.items():
            if (location in self._above) is above:
                yield f"{name} = loc({self._text(location)})"

    def _text(self, location: Attribute) -> str:
        if isinstance(location, FileLineColLoc):
            return f"{quoted(location.filename)}:{location.line.data}:{location.column.data}"
        if isinstance(location, NameLoc):
            inner = parts(location)
            return quoted(location.desc) + (f"({self.names[inner[0]]})" if inner else "")
        if isinstance(location, CallSiteLoc):
            return f"callsite({self.names[location.callee]} at {self.names[location.caller]})"
        if isinstance(location, FusedLoc):
            from aiecc.ir.printer import attribute_text

            metadata = "" if isinstance(location.metadata, NoneAttr) else f"<{attribute_text(location.metadata)}>"
            return f"fused{metadata}[{', '.join(self.names[part] for part in parts(location))}]"
        return _NO_LOCATION
