"""How an op's verifier says what is wrong: with the words, the op and the notes MLIR would show.

Raise `VerifyError` inside `verify_`. Plain `xdsl.utils.exceptions.VerifyException` works as well: its text
is reported at the op that is being verified.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException


class VerifyError(VerifyException):
    """One verifier error. Printed as `'op.name' op <text>` at the op's line, then the notes at theirs.

    op: the op the error belongs to; None means the op whose verifier is running.
    notes: (text, op) pairs; an op of None gives a note without a position.
    bare: leave the `'op.name' op ` prefix away (MLIR's `emitError` instead of `emitOpError`).
    """

    def __init__(
        self,
        text: str,
        op: Operation | None = None,
        notes: Sequence[tuple[str, Operation | None]] = (),
        bare: bool = False,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.op = op
        self.notes = tuple(notes)
        self.bare = bare
