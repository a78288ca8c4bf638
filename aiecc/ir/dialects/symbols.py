"""Ops with a name, and ops that hold names.

The traits are xDSL's, so look-ups work everywhere; what they check, and in which words, is MLIR's.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolOpInterface, SymbolTable

from aiecc.ir.errors import VerifyError

VISIBILITIES = ("public", "private", "nested")


class Symbol(SymbolOpInterface):
    """An op that enters its `sym_name` into the symbol table around it."""

    def verify(self, op: Operation) -> None:
        name = op.properties.get("sym_name", op.attributes.get("sym_name"))
        if not isinstance(name, StringAttr):
            raise VerifyError("requires attribute 'sym_name'", op)
        visibility = op.attributes.get("sym_visibility", op.properties.get("sym_visibility"))
        if visibility is None:
            return
        if not isinstance(visibility, StringAttr):
            raise VerifyError(
                f"requires visibility attribute 'sym_visibility' to be a string attribute, but got {visibility}", op
            )
        if visibility.data not in VISIBILITIES:
            raise VerifyError(
                f'visibility expected to be one of ["public", "private", "nested"], but got "{visibility.data}"', op
            )


class Scope(SymbolTable):
    """An op whose body is a symbol table. `clash` is for the driver to ask once the ops inside are verified."""

    def verify(self, op: Operation) -> None:
        """Nothing before the ops inside are verified."""

    def clash(self, op: Operation) -> VerifyError | None:
        """Two symbols of one name."""
        met: dict[str, Operation] = {}
        block = op.regions[0].blocks.first if op.regions else None
        for inner in block.ops if block is not None else ():
            if not inner.has_trait(SymbolOpInterface, value_if_unregistered=False):
                continue
            name = inner.properties.get("sym_name", inner.attributes.get("sym_name"))
            if not isinstance(name, StringAttr):
                continue
            first = met.setdefault(name.data, inner)
            if first is not inner:
                return VerifyError(
                    f"redefinition of symbol named '{name.data}'",
                    inner,
                    [("see existing symbol definition here", first)],
                    bare=True,
                )
        return None
