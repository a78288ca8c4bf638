"""Fifos' descriptors as templates: put in their place they are what is written without them."""

from pathlib import Path

import pytest
from fifo_designs import Seeded, build
from xdsl.dialects.builtin import ModuleOp

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.chains import DmaStartTaskOp
from aiecc.ir.dialects.aie.runtime import BdChainOp
from aiecc.ir.lowering import follow
from aiecc.ir.text import parse, print_module
from aiecc.ir.verify import verify
from aiecc.model.recipe import FIFO_PASSES, name_of, recipe

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/design.mlir"))
LOWERING = FIFO_PASSES[: FIFO_PASSES.index("aie-objectfifo-lower-dmas") + 1]


def lowered(text: str, *, templates: bool, check: bool = True) -> ModuleOp | None:
    """A design with its fifos' channels programmed; None for one that is refused."""
    module, sink = parse(text, "design.mlir"), Sink()
    steps = [s for s in recipe(bd_chains=templates, verify_fifos=check) if name_of(s) in LOWERING]
    return module if follow(module, steps, sink) else None


def expanded(module: ModuleOp) -> str:
    sink = Sink()
    assert follow(module, ["aie-materialize-bd-chains"], sink), [d.text for d in sink.items]
    for device in list(module.body.block.ops):
        for op in list(device.regions[0].block.ops):
            if isinstance(op, BdChainOp):
                op.detach()
                op.erase()
    return print_module(module)


def same(text: str) -> int:
    """Compare both ways; how many channels were started by templates."""
    plain, short = lowered(text, templates=False), lowered(text, templates=True)
    if plain is None or short is None:
        assert plain is None and short is None
        return 0
    assert verify(short) == []
    starts = [op for op in short.walk() if isinstance(op, DmaStartTaskOp)]
    chains = [op for op in short.walk() if isinstance(op, BdChainOp)]
    own = {op.symbol for op in plain.walk() if isinstance(op, BdChainOp)}
    assert {s.symbol for s in starts} == {c.symbol for c in chains} - own
    again = parse(print_module(short), "again.mlir")
    assert expanded(again) == expanded(parse(print_module(plain), "again.mlir"))
    return len(starts)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.parent.name)
def test_examples(path: Path) -> None:
    same(path.read_text("utf-8"))


@pytest.mark.parametrize("block", range(4))
def test_generated_designs(block: int) -> None:
    found = (build(Seeded(seed)) for seed in range(block * 12, block * 12 + 12))
    assert sum(same(design.text) for design in found if design is not None) > 10


FIFOS = """
aie.device(npu2) {
  %s = aie.tile(0, 0)
  %c2 = aie.tile(0, 2)
  %c3 = aie.tile(0, 3)
  %c4 = aie.tile(0, 4)
  aie.objectfifo @a(%s, {%c2}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @b(%s, {%c3}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @c(%c2, {%c4}, 3 : i32) : !aie.objectfifo<memref<16xi32>>
}
"""


def test_channels_of_one_shape_share_a_template() -> None:
    """Two receivers of two objects, a sender and a receiver of three: one template for each number of objects."""
    module = lowered(FIFOS, templates=True, check=False)
    assert module is not None
    starts = [op for op in module.walk() if isinstance(op, DmaStartTaskOp)]
    assert len(starts) == 4
    depths = {s.symbol: len(s.operands) for s in starts}
    # Buffers and two locks.
    assert sorted(depths.values()) == [4, 5]


def test_the_command_line_shows_templates_and_builds_the_same(tmp_path: Path) -> None:
    from aiecc.testing.kit import Project

    project = Project(tmp_path)
    project.write("design.mlir", FIFOS)
    wanted = ("--skip-objectFifo-verify", "--hang-check=off", "--get=after_aie-objectfifo-lower-dmas.mlir")
    plain = project.aiecc("design.mlir", *wanted, "--output-dir=plain")
    short = project.aiecc("design.mlir", *wanted, "--bd-chains", "--output-dir=short")
    assert plain.code == short.code == 0, plain.err + short.err
    (shown,) = (tmp_path / "short").rglob("*lower-dmas*")
    assert "aie.dma_start_task @chain" in shown.read_text("utf-8")
    (shown,) = (tmp_path / "plain").rglob("*lower-dmas*")
    assert "aie.dma_start_task" not in shown.read_text("utf-8")
