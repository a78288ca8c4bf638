"""Ops with a name, and ops that hold names.

The traits are xDSL's, so look-ups work everywhere; what they check, and in which words, is MLIR's.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsolatedFromAbove, OpTrait, SymbolOpInterface, SymbolTable

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
    """An op whose body is a symbol table."""

    def verify(self, op: Operation) -> None:
        if len(op.regions[0].blocks) != 1:
            raise VerifyError("Operations with a 'SymbolTable' must have exactly one block", op)

    def verify_inside(self, op: Operation) -> None:
        """Two symbols of one name. Asked once the ops inside are verified."""
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
                raise VerifyError(
                    f"redefinition of symbol named '{name.data}'",
                    inner,
                    [("see existing symbol definition here", first)],
                    bare=True,
                )


class Isolated(IsolatedFromAbove):
    """An op inside which no value from outside may be used."""

    def verify(self, op: Operation) -> None:
        """Nothing before the ops inside are verified."""

    def verify_inside(self, op: Operation) -> None:
        """A use of a value from around the op. Asked once the ops inside are verified."""
        known: set[SSAValue] = set()
        for region in op.regions:
            for block in region.blocks:
                known.update(block.args)
            for inner in region.walk():
                known.update(inner.results)
                for inner_region in inner.regions:
                    for block in inner_region.blocks:
                        known.update(block.args)
        for region in op.regions:
            for inner in region.walk():
                if any(operand not in known for operand in inner.operands):
                    raise VerifyError(
                        "using value defined outside the region",
                        inner,
                        [("required by region isolation constraints", op)],
                    )


def verify_inside(op: Operation) -> None:
    """What an op's traits require of the ops inside, once these are verified by themselves."""
    for trait in op.traits:
        check = getattr(trait, "verify_inside", None)
        if check is not None:
            check(op)
