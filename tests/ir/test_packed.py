"""Elements narrower than a byte in core code: refused where LLVM would look for them where no DMA puts them."""

from __future__ import annotations

import pytest

from aiecc.base.diag import Sink
from aiecc.ir.outline import Outliner
from aiecc.ir.text import parse
from aiecc.model.ids import CoreId


def said(body: str, kind: str = "32xi4") -> list[tuple[int, str]]:
    text = f"""
aie.device(npu2) @main {{
  func.func private @k(memref<32xi4>)
  %t = aie.tile(0, 2)
  %b = aie.buffer(%t) {{sym_name = "b"}} : memref<{kind}>
  %c = aie.core(%t) {{
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    {body}
    aie.end
  }}
}}"""
    module = parse(text, "design.mlir")
    sink = Sink()
    device = module.body.block.first_op
    assert device is not None
    outliner = Outliner(device, sink, triple="riscv32")  # type: ignore[arg-type]
    made = outliner.outline(CoreId("main", 0, 2))
    assert (made is None) is sink.failed
    return [(d.where.line - 8 if d.where else -1, d.text) for d in sink.items]


TEXT = "op finds elements of {} bits in the wrong place: buffers pack them, compiled code takes a byte for each"


@pytest.mark.parametrize(
    ("body", "kind", "op", "bits"),
    [
        ("%v = memref.load %b[%c0] : memref<32xi4>", "32xi4", "memref.load", 4),
        ("%v = memref.load %b[%c2] : memref<32xi1>", "32xi1", "memref.load", 1),
        ("%v = affine.load %b[3] : memref<32xi4>", "32xi4", "affine.load", 4),
        (
            "%v = arith.constant dense<1> : vector<8xi4>\n"
            "vector.store %v, %b[%c2] : memref<32xi4>, vector<8xi4>",
            "32xi4", "vector.store", 4,
        ),
    ],
)  # fmt: skip
def test_where_packed_elements_are_not(body: str, kind: str, op: str, bits: int) -> None:
    assert said(body, kind) == [(1 + body.count("\n"), f"'{op}' {TEXT.format(bits)}")]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("%v = memref.load %b[%c0] : memref<32xi8>", "32xi8"),
        # From the start on, as many as there are: packed in LLVM, too.
        ("%v = vector.load %b[%c0] : memref<32xi4>, vector<32xi4>", "32xi4"),
        ("func.call @k(%b) : (memref<32xi4>) -> ()", "32xi4"),
        # Nobody else ever looks into it.
        ("%a = memref.alloca() : memref<4xi1>\n%v = memref.load %a[%c2] : memref<4xi1>", "32xi4"),
    ],
)
def test_where_they_are(body: str, kind: str) -> None:
    assert said(body, kind) == []


@pytest.mark.parametrize(("kind", "bits"), [("32xi4", 4), ("32xi1", 1), ("32xi8", 0), ("4xindex", 0)])
def test_initial_values(kind: str, bits: int) -> None:
    text = "op has initial elements of {} bits: the buffer packs them, compiled code takes a byte for each"
    use = "func.call @k(%b) : (memref<32xi4>) -> ()" if kind == "32xi4" else f"memref.dealloc %b : memref<{kind}>"
    found = [(line, text) for line, text in said(use, f"{kind}> = dense<1") if "initial" in text]
    assert found == ([(-3, f"'aie.buffer' {text.format(bits)}")] if bits else [])
