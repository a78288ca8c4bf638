"""Ops with a name, and ops that hold names.

The traits are xDSL's, so that look-ups and the verifier know them; what they check here is what MLIR checks before the
ops inside, in its words.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.traits import IsolatedFromAbove, NoTerminator, OpTrait, SymbolOpInterface, SymbolTable

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
            from aiecc.ir.printer import attribute_text as show

            raise VerifyError(
                f"requires visibility attribute 'sym_visibility' to be a string attribute, but got {show(visibility)}",
                op,
            )
        if visibility.data not in VISIBILITIES:
            raise VerifyError(
                f'visibility expected to be one of ["public", "private", "nested"], but got "{visibility.data}"', op
            )


class OneBlock(OpTrait):
    """Every region has one block at most."""

    def verify(self, op: Operation) -> None:
        for i, region in enumerate(op.regions):
            if len(region.blocks) > 1:
                raise VerifyError(f"expects region #{i} to have 0 or 1 blocks", op)


class Scope(SymbolTable):
    """An op whose body is a symbol table. That names are unique is checked once the ops inside are verified."""

    def verify(self, op: Operation) -> None:
        if len(op.regions[0].blocks) != 1:
            raise VerifyError("Operations with a 'SymbolTable' must have exactly one block", op)


class Isolated(IsolatedFromAbove):
    """An op inside which no value from outside may be used; checked once the ops inside are verified."""

    def verify(self, op: Operation) -> None:
        """Nothing yet."""


class OpenEnded(NoTerminator):
    """Blocks that end with any op. How many blocks there may be is the op's own rule."""

    def verify(self, op: Operation) -> None:
        """Nothing."""


class KeepsConstants(OpTrait):
    """An op that is no wall for values, and yet keeps the constants of what is inside: it becomes a program of its own.

    Without this, tidying up would move them to the device, where nothing computes.
    """
