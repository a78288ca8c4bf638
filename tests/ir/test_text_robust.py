"""Texts nobody should write: one clear answer each, never a traceback."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textkit import Programs, refusal

from aiecc.base.diag import Refused
from aiecc.ir.text import parse, print_module

DESIGN = """\
#map = affine_map<(d0)[s0] -> (d0 + s0)>
module @m attributes {a.b = [1, 2.5, "x\\22"], c.d = {e = dense<[1, 2]> : tensor<2xi8>}} {
  memref.global "private" constant @g : memref<2 x i32> = dense<[1, 2]>
  aie.device(npu2) {
    %t = aie.tile(0, 2)
    %b = aie.buffer(%t) {sym_name = "b"} : memref<16xi32> = dense<1>
    %l = aie.lock(%t, 0) {init = 1 : i32}
    func.func private @k(memref<16xi32>) attributes {link_with = "k.o"}
    %core = aie.core(%t) {
      %c = arith.constant 1 : i32
      aie.use_lock(%l, AcquireGreaterEqual, %c)
      %x = arith.cmpi "slt", %c, %c : i32
      scf.if %x { func.call @k(%b) : (memref<16xi32>) -> () }
      aie.end
    } loc("core.py":1:2)
    %mem = aie.mem(%t) {
      %s = aie.dma_start(S2MM, 0, ^bd, ^end)
    ^bd:
      aie.dma_bd(%b : memref<16xi32>, 0, 16, [<size = 4, stride = 1>])
      aie.next_bd ^end
    ^end:
      aie.end
    }
  }
}
"""


def answer(text: str) -> str:
    """Read, print, read again; or the reason why not, which must have a place."""
    try:
        module = parse(text, "bad.mlir")
    except Refused as refused:
        assert refused.diagnostics
        for diagnostic in refused.diagnostics:
            assert diagnostic.where is not None
            assert diagnostic.where.file == "bad.mlir"
            assert 1 <= diagnostic.where.line <= text.count("\n") + 1
            assert diagnostic.text
        return refused.diagnostics[0].text
    printed = print_module(module)
    assert print_module(parse(printed, "again")) == printed
    return "read"


def test_the_design_itself_is_read():
    assert answer(DESIGN) == "read"


@pytest.mark.parametrize("text", ["", "\n", "  \t ", "// only a comment", "// -----\n", "\0\0\0"])
def test_nothing_is_an_empty_module(text: str):
    assert print_module(parse(text, "x")) == "module {\n}"


def test_cut_off_anywhere():
    reasons = {answer(DESIGN[:end]) for end in range(0, len(DESIGN), 3)}
    assert "read" in reasons
    assert len(reasons) > 20


def test_a_piece_missing_anywhere():
    for start in range(0, len(DESIGN), 5):
        answer(DESIGN[:start] + DESIGN[start + 7 :])


def test_tokens_changed_anywhere():
    for i, junk in enumerate(
        ["{", "}", "(", "<", ">", '"', "%", "#", "!", "^", "@", "-", "0x", "\0", "é", "loc("] * 12
    ):
        at = (i * 37) % len(DESIGN)
        answer(DESIGN[:at] + junk + DESIGN[at:])


@pytest.mark.parametrize(
    "text",
    [
        "module {" * 5000,
        "module {" * 5000 + "}" * 5000,
        "module attributes {a.b = " + "[" * 20000 + "]" * 20000 + "} {}",
        "func.func private @f() attributes {a.b = affine_map<(d0) -> (" + "(" * 5000 + "d0" + ")" * 5000 + ")>}",
        "func.func private @f(" + "memref<4x" * 3000,
        "func.func private @f(" + "(" * 10000,
    ],
)
def test_deep_nesting_is_refused(text: str):
    assert answer(text) in ("nested too deeply to be read", "expected non-function type")


def test_long_is_not_deep():
    text = "module attributes {a.b = [" + ", ".join(str(i) for i in range(20000)) + "]} {}"
    assert answer(text) == "read"
    assert answer("module {\n" + "func.func private @f()\n" * 2000 + "}") == "read"


@pytest.mark.parametrize(
    "text",
    [
        "module attributes {a = 99999999999999999999999999 : i8} {}",
        "module attributes {a = -129 : i8} {}",
        "module attributes {a = 1 : ui0} {}",
        "module attributes {a = dense<[1, [2]]> : tensor<2x1xi8>} {}",
        "module attributes {a = dense<[1, 2]> : tensor<3xi8>} {}",
        'module attributes {a = dense<"0x0"> : tensor<1xi8>} {}',
        "module attributes {a = dense<1> : tensor<?xi8>} {}",
        "module attributes {a = array<i8: 400>} {}",
        "module attributes {a = 1.0 : i8} {}",
        "module attributes {a = affine_map<(d0) -> (d1)>} {}",
        "module attributes {a = affine_map<(d0) -> (d0 mod 0)>} { ",
        'module attributes {"" = 1} { ',
        "module attributes {a = loc(} {}",
        "module attributes {a = #b, c} {}\n#b = #b",
        "module attributes {a = !b} {}\n!b = tuple<!b>",
        "func.func @f(%a: memref<-4xi32>) { return }",
        "func.func @f(%a: vector<0x4xi32>, %b: memref<0x4xi32>) { retur }",
        "func.func @f(%a: i99999999999999) { retur }",
        "arith.constant #arith.fastmath<fats>",
        "%x = arith.addi %x#99999999999999999999, %x : i32",
        "^bb0: module {}",
        "} module {",
    ],
)
def test_bad_values(text: str):
    refusal(text)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*'{}()<>[]%#!^@-"=:,.x0 i\n', "arith.addi", "module", "memref<", "loc", "%a"])))
def test_random_tokens(tokens: list[str]):
    answer("".join(tokens))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=80))
def test_random_bytes(data: bytes):
    answer(data.decode("utf-8", "surrogateescape"))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_print_is_a_fixed_point(seed: int):
    assert answer(Programs(seed).module()) == "read"


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.one_of(
            st.integers(-(2**63), 2**63 - 1).map(lambda n: f"{n}"),
            st.integers(-(2**31), 2**32 - 1).map(lambda n: f"{n} : i32"),
            st.floats(allow_nan=False, allow_infinity=False).map(lambda x: f"{x:.17e}"),
            st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"])).map(lambda s: f'"{_escaped(s)}"'),
            st.sampled_from(["unit", "true", "i32", "@a::@b", "() -> ()", "none", "index", "memref<4 x ? x f32, 3>"]),
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
            st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=4).map(
                lambda d: "{" + ", ".join(f'"{_escaped(k)}" = {v}' for k, v in d.items()) + "}"
            ),
        ),
        max_leaves=12,
    )
)
def test_attributes_are_a_fixed_point(attribute: str):
    assert answer(f"module attributes {{a.b = {attribute}}} {{}}") == "read"


def _escaped(text: str) -> str:
    return "".join(c if " " <= c <= "~" and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode()) for c in text)


def test_resources_become_their_elements_every_time():
    text = (
        "func.func private @f() attributes {a.v = dense_resource<blob> : tensor<2xi8>, "
        "a.w = dense_resource<gone> : tensor<2xi8>}\n"
        '{-#\n  dialect_resources: { builtin: { blob: "0x01000000AA05" } }\n#-}\n'
    )
    wanted = "a.v = dense<[-86, 5]> : tensor<2xi8>, a.w = dense_resource<gone> : tensor<2xi8>"
    assert [wanted in print_module(parse(text, "x")) for _ in range(3)] == [True] * 3
    assert refusal(text[:-4]).text == "expected '#-}' in file metadata dictionary"
