"""The passes from a design as written to the level cores are compiled from, as a recipe: their names, with options.

A recipe is text, so it can be told, kept in an artifact, and followed in part: `--get=after_PASS.mlir` is the design
after one of its passes. `aiecc.ir.lowering` runs it.
"""

from __future__ import annotations

FIFO_PASSES = (
    "aie-objectfifo-split",
    "aie-objectfifo-verify",
    "aie-objectfifo-verify-transfers",
    "aie-assign-packet-ids",
    "aie-objectfifo-allocate",
    "aie-objectfifo-lower-dmas",
    "aie-objectfifo-lower-cores",
    "aie-objectfifo-erase-pools",
    "aie-objectFifo-unroll",
)
"""In the order they run; `recipe` leaves them out where there is nothing for them to do."""

_FIRST = ("aie-default-stack-size", "aie-canonicalize-device", "lower-affine")


def recipe(
    *,
    default_stack_size: int = 0,
    fifos: bool = True,
    verify_fifos: bool = True,
    packet_fifos: bool = False,
    dynamic_fifos: bool = True,
    affine: bool = False,
    bd_chains: bool = False,
) -> tuple[str, ...]:
    """The passes in order, each as a pipeline spells it.

    default_stack_size: bytes for cores that declare none (0: leave them).
    fifos: whether there are any. verify_fifos: whether designs must say everything themselves, or may program an end
    by hand. packet_fifos: packet-switched flows for all of them. dynamic_fifos: loops stay loops. affine: whether
    fifos are used inside affine loops. bd_chains: descriptors of fifos are templates first (`--get` shows them).
    """
    found = [f"aie-default-stack-size{{size={default_stack_size}}}", "aie-canonicalize-device"]
    if affine:
        found.append("lower-affine")
    if fifos:
        options = {
            "aie-assign-packet-ids": "{packet-sw-objFifos=true}" if packet_fifos else "",
            "aie-objectfifo-lower-dmas": "{bd-chains=true}" if bd_chains else "",
            "aie-objectFifo-unroll": f"{{default-dynamic={str(dynamic_fifos).lower()}}}",
        }
        found += [
            name + options.get(name, "")
            for name in FIFO_PASSES
            if verify_fifos or not name.startswith("aie-objectfifo-verify")
        ]
    return (
        *found,
        "aie-materialize-bd-chains",
        "aie-assign-lock-ids",
        "aie-assign-bd-ids",
        "aie-prepare-buffers",
        "aie-assign-core-link-files",
    )


def sequence_recipe(*, queue_check: str = "wait") -> tuple[str, ...]:
    """The passes from runtime sequences as written to plain instructions.

    queue_check: what is done about a push that may be one too many for its channel's queue.
    """
    ids = f"aie-assign-runtime-sequence-bd-ids{{queue-check={queue_check} in-flight=error}}"
    return (
        "aie-materialize-runtime-sequences",
        "aie-materialize-bd-chains",
        "aie-substitute-shim-dma-allocations",
        "aie-unroll-runtime-sequence-loops",
        "aie-canonicalize-runtime-sequences",
        "aie-decompose-large-dma-bd",
        "aie-lower-dynamic-bd-pool",
        ids,
        "aie-dma-tasks-to-npu",
        "aie-lower-dma-channel-reset",
        "aie-dma-to-npu",
        "aie-lower-set-lock",
        "aie-lower-core-reset",
    )


def name_of(step: str) -> str:
    """The pass a step of a recipe names, without its options."""
    return step.partition("{")[0]


def until(steps: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The steps up to the pass of a name. One that was left out had nothing to do: then those before its place."""
    names = [name_of(step) for step in steps]
    if name in names:
        return steps[: names.index(name) + 1]
    before = {*_FIRST, *FIFO_PASSES[: FIFO_PASSES.index(name)]}
    return tuple(step for step in steps if name_of(step) in before)
