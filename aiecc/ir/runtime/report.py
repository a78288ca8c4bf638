"""What lowering finds wrong, told as a verifier tells it."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.errors import VerifyError
from aiecc.ir.passes.report import error, op_error

CODE = "E1002"
NO_QUEUE = "needs descriptors and queues that a sequence can write: the DMAs of AIE1 have none"


def said(sink: Sink, op: Operation, work: Callable[[], None]) -> None:
    """Do some work about `op`; a VerifyError it raises is reported where it belongs."""
    try:
        work()
    except VerifyError as problem:
        tell = error if problem.bare else op_error
        tell(sink, problem.op or op, problem.text, problem.notes, code=CODE)
