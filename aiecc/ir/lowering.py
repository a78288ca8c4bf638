"""Following a recipe (`aiecc.model.recipe`): running the passes it names."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from aiecc.base.collector import paused
from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.access import FifoAccess
from aiecc.ir.dialects.base import enclosing
from aiecc.ir.facts import devices
from aiecc.ir.pipeline import make_pass, targets
from aiecc.ir.verify import verify
from aiecc.model.recipe import FIFO_PASSES, name_of, recipe

_FIFO_OPS = ("aie.objectfifo", "aie.route")


_CHAINS = "aie-materialize-bd-chains"
_MAKERS = ("aie-objectfifo-split", "aie-objectfifo-lower-dmas", _CHAINS)
"""What they make says by its own rules whether the author's layouts, counts and channels can be had."""
_CODE = ("aie.core", "func.func")


def has_fifos(op: Operation) -> bool:
    """Whether a module's devices hold objectFifos, or what splitting makes of them."""
    return any(inner.name.startswith(_FIFO_OPS) for device in devices(op) for inner in device.block.ops)


def _has_templates(op: Operation) -> bool:
    return any(inner.name == "aie.bd_chain" for device in devices(op) for inner in device.block.ops)


def in_affine_loops(op: Operation) -> bool:
    """Whether a core takes or gives objects inside an affine loop or branch."""
    for device in devices(op):
        for core in device.block.ops:
            if core.name != "aie.core":
                continue
            for inner in core.walk():
                if isinstance(inner, FifoAccess) and enclosing(inner, "affine.for", "affine.if", "affine.parallel"):
                    return True
    return False


def lower_to_run(op: Operation, sink: Sink) -> bool:
    """Bring a module down to what the array model runs, in place: without fifos, and with the ids it is told by.

    False as soon as a pass reports an error.
    """
    wanted = {
        "aie-canonicalize-device",
        "lower-affine",
        *FIFO_PASSES,
        "aie-materialize-bd-chains",
        "aie-assign-lock-ids",
        "aie-assign-bd-ids",
    }
    fifos = has_fifos(op)
    steps = recipe(fifos=fifos, affine=fifos and in_affine_loops(op))
    return follow(op, [step for step in steps if name_of(step) in wanted], sink)


def follow(op: Operation, steps: Iterable[str], sink: Sink, *, verify_each: bool = False) -> bool:
    """Run a recipe on a module, in place. False as soon as a pass reports an error, or makes something illegal.

    verify_each: verify the module after every pass, and not only what passes make of the author's numbers.
    """
    with paused():
        for step in steps:
            name, _, options = step.partition("{")
            each = make_pass(name, options.removesuffix("}"))
            makes = name in _MAKERS and (name != _CHAINS or _has_templates(op))
            for target in targets(each, op):
                each.apply(target, sink)
            if (verify_each or makes) and not sink.failed:
                sink.extend(verify(op, closed=() if verify_each else _CODE))
            if sink.failed:
                return False
    return True
