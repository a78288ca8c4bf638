"""The dialect `pto` in its public textual form: every op is read, printed and read again; what is wrong is told."""

import pytest
from ptokit import ACC, HALF, MAT, VEC, clusters, design, read
from xdsl.dialects.builtin import DYNAMIC_INDEX, Float32Type

from aiecc.api import Refused, verify
from aiecc.ir.text import parse, print_module
from aiecc.plugins.tpush.dialect.attrs import TileBufType
from aiecc.plugins.tpush.dialect.pipe_ops import InitializePipe, PipeOp, PopOp, PushOp
from aiecc.plugins.tpush.model import Direction, Kind, Space, Split

HEAD = """\
  func.func @f(%p: !pto.ptr<f32>, %a: !pto.tile_buf<acc, 16x16xf32>, %v: !pto.tile_buf<vec, 16x16xf32>, \
%n: index, %b: i32, %l: i64, %x: f32) {
"""


def around(op: str) -> str:
    return f"module {{\n{HEAD}    {op}\n    return\n  }}\n}}\n"


def printed(op: str) -> str:
    """An op as it is printed, names of arguments kept."""
    text = print_module(parse(around(op), "a.mlir"))
    line = text.split("\n")[2].strip()
    for number, name in enumerate("pavnblx"):
        line = line.replace(f"%arg{number}", f"%{name}")
    return line


OPS = [
    '%0 = pto.reserve_buffer {name = "r", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32',
    '%0 = pto.reserve_buffer {name = "r", size = 1, location = #pto.address_space<mat>, auto = false, base = 64} '
    "-> i32",
    '%0 = pto.import_reserved_buffer {name = "r", peer_func = @g} -> i32',
    "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32)",
    "pto.aic_initialize_pipe {dir_mask = 3, slot_size = 1024} (gm_slot_buffer = %p : !pto.ptr<f32>)",
    "pto.aiv_initialize_pipe {id = 2, dir_mask = 3, slot_size = 64, slot_num = 2, local_slot_num = 1, nosplit = true} "
    "(gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %b : i32, v2c_consumer_buf = %b : i32)",
    f"pto.tpush_to_aiv(%a : {ACC}) {{split = 0}}".replace(ACC, "!pto.tile_buf<acc, 16x16xf32>"),
    "pto.tpush_to_aic(%v : !pto.tile_buf<vec, 16x16xf32>) {id = 3, split = 2}",
    f"%0 = pto.tpop_from_aic {{split = 1}} -> {HALF}",
    f"%0 = pto.tpop_from_aiv {{id = 7, split = 0}} -> {MAT}",
    "%0 = pto.tpop_from_aic(%n, %n) {split = 2} -> !pto.tile_buf<vec, 16x64xf32, valid=?x?>",
    "pto.tfree_from_aic {split = 0}",
    "pto.tfree_from_aiv {id = 1, split = 1}",
    "pto.tfree_from_aic(%v : !pto.tile_buf<vec, 16x16xf32>) {split = 0}",
    f"%0 = pto.alloc_tile : {VEC}",
    f"%0 = pto.alloc_tile addr = %l : {VEC}",
    "%0 = pto.alloc_tile addr = %l valid_row = %n valid_col = %n : !pto.tile_buf<vec, 16x16xf32, valid=?x?>",
    "%0 = pto.treshape %v : !pto.tile_buf<vec, 16x16xf32> -> !pto.tile_buf<vec, 8x32xf32>",
    "%0 = pto.bitcast %v : !pto.tile_buf<vec, 16x16xf32> -> !pto.tile_buf<vec, 16x16xi32>",
    "%0 = pto.addptr %p, %n : !pto.ptr<f32> -> !pto.ptr<f32>",
    "%0 = pto.make_tensor_view %p, shape = [%n, %n], strides = [%n, %n] : !pto.tensor_view<?x?xf32>",
    "%0 = pto.make_tensor_view %p, shape = [%n], strides = [%n] {layout = #pto.layout<nd>} : !pto.tensor_view<4xf32>",
    "%0 = pto.get_block_idx",
    "%0 = pto.get_subblock_idx",
    "pto.tadd ins(%v, %v : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) "
    "outs(%v : !pto.tile_buf<vec, 16x16xf32>)",
    "pto.tmuls ins(%v, %x : !pto.tile_buf<vec, 16x16xf32>, f32) outs(%v : !pto.tile_buf<vec, 16x16xf32>)",
    "pto.tcvt ins(%v {rmode = #pto.round_mode<ROUND>} : !pto.tile_buf<vec, 16x16xf32>) "
    "outs(%v : !pto.tile_buf<vec, 16x16xf32>)",
    "pto.tprint ins(%v : !pto.tile_buf<vec, 16x16xf32>)",
    "pto.tmatmul.acc ins(%v, %v, %v : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>, "
    "!pto.tile_buf<vec, 16x16xf32>) outs(%a : !pto.tile_buf<acc, 16x16xf32>)",
]


@pytest.mark.parametrize("op", OPS)
def test_an_op_is_printed_as_it_is_written(op: str) -> None:
    assert printed(op) == op
    assert verify(parse(around(op), "a.mlir")) == []


@pytest.mark.parametrize("op", OPS)
def test_the_generic_form_says_the_same(op: str) -> None:
    module = parse(around(op), "a.mlir")
    generic = print_module(module, generic=True)
    assert "pto." in generic and "ins(" not in generic
    assert print_module(parse(generic, "g.mlir")) == print_module(module)


@pytest.mark.parametrize(
    ("op", "same"),
    [
        (
            'pto.reserve_buffer{name="r",base=64,auto=false,size=1,location=<mat>}->i32',
            'pto.reserve_buffer {name = "r", size = 1, location = #pto.address_space<mat>, auto = false, base = 64} '
            "-> i32",
        ),
        ("pto.tfree_from_aic {split = 0 : i8}", "pto.tfree_from_aic {split = 0}"),
        ("pto.tfree_from_aic {split = 0, id = 1 : i32}", "pto.tfree_from_aic {id = 1, split = 0}"),
        ("pto.addptr %p, %n : <f32> -> <f32>", "pto.addptr %p, %n : !pto.ptr<f32> -> !pto.ptr<f32>"),
        (
            "pto.tcvt ins(%v {rmode = #pto<round_mode ROUND>} : !pto.tile_buf<vec, 16x16xf32>)",
            "pto.tcvt ins(%v {rmode = #pto.round_mode<ROUND>} : !pto.tile_buf<vec, 16x16xf32>)",
        ),
        (
            "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 32, nosplit} ()",
            "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 32, nosplit = true} ()",
        ),
    ],
)
def test_other_spellings_of_the_same(op: str, same: str) -> None:
    assert printed(op).removeprefix("%0 = ") == same


@pytest.mark.parametrize(
    ("type", "same"),
    [
        (
            "loc=vec, dtype=f32, rows=16, cols=8, v_row=16, v_col=8, blayout=row_major, slayout=none_box, fractal=512, "
            "pad=0",
            "vec, 16x8xf32",
        ),
        ("loc=acc, dtype=f16, rows=16, cols=8, blayout=col_major, pad=2", "acc, 16x8xf16, blayout=col_major, pad=2"),
        ("loc=vec, dtype=f32, rows=16, cols=8, v_row=?, v_col=?", "vec, 16x8xf32, valid=?x?"),
        ("loc=vec, dtype=f32, rows=16, cols=8, v_row=0, v_col=0", "vec, 16x8xf32, valid=0x0"),
        ("vec, 16x8xf32, valid=0x0", "vec, 16x8xf32, valid=0x0"),
        ("vec, 16x8xbf16, compact=1, fractal=1024", "vec, 16x8xbf16, fractal=1024, compact=1"),
        ("mat, 16x8xi8, slayout=col_major, valid=3x8", "mat, 16x8xi8, valid=3x8, slayout=col_major"),
    ],
)
def test_tiles_in_both_forms(type: str, same: str) -> None:
    op = f"%0 = pto.alloc_tile : !pto.tile_buf<{type}>"
    assert printed(op) == f"%0 = pto.alloc_tile : !pto.tile_buf<{same}>"


def test_a_tile_says_what_it_is() -> None:
    type = TileBufType.of(Space.VEC, 16, 8, Float32Type(), valid_row=3, valid_col=DYNAMIC_INDEX)
    assert (type.memory, type.rows.data, type.cols.data, type.bytes_per_element) == (Space.VEC, 16, 8, 4)
    assert (type.valid_row.data, type.valid_col.data) == (3, DYNAMIC_INDEX)
    assert type.layout == "blayout=row_major, slayout=none_box"


def test_ops_say_what_they_are() -> None:
    text = design(
        (
            "pto.aic_initialize_pipe {id = 4, dir_mask = 3, slot_size = 64} ()",
            f"%p = pto.tpop_from_aiv {{split = 2}} -> {MAT}",
        ),
        ("pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 64, slot_num = 2} ()",),
    )
    first, second = (op for op in read(text).walk() if isinstance(op, InitializePipe))
    assert (first.number, first.slots, first.KIND, first.directions) == (4, 4, Kind.CUBE, tuple(Direction))
    assert (second.number, second.slots, second.KIND, second.whole_tiles) == (0, 2, Kind.VECTOR, False)
    (pop,) = (op for op in read(text).walk() if isinstance(op, PipeOp))
    assert isinstance(pop, PopOp) and not isinstance(pop, PushOp)
    assert (pop.DIRECTION, pop.KIND, pop.parting) == (Direction.V2C, Kind.CUBE, Split.LEFT_RIGHT)


WRONG = [
    ("pto.tfree_from_aic {id = 1}", "'pto.tfree_from_aic' op lacks 'split': write {split = ..}"),
    ("pto.tfree_from_aic {split = 0, split = 0}", "'split' stands twice"),
    ("pto.tfree_from_aic {split = 200}", "'split' = 200 does not fit i8"),
    ("pto.tfree_from_aic {split = 0 : i32}", "'split' is an i8"),
    ("pto.tfree_from_aic {split = 0, lane = 1}", "'pto.tfree_from_aic' op has no 'lane'; there are id, split"),
    (
        'pto.reserve_buffer {name = "r", size = 1, location = #pto.layout<nd>, auto = true} -> i32',
        "expected a memory such as #pto.address_space<vec>",
    ),
    (
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 32} (buffer = %b : i32)",
        "'pto.aic_initialize_pipe' op: there is no 'buffer'; its buffers are gm_slot_buffer, c2v_consumer_buf, "
        "v2c_consumer_buf",
    ),
    (
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 32} (c2v_consumer_buf = %b : i32, "
        "c2v_consumer_buf = %b : i32)",
        "'pto.aic_initialize_pipe' op: 'c2v_consumer_buf' stands twice; its buffers are gm_slot_buffer, "
        "c2v_consumer_buf, v2c_consumer_buf",
    ),
    ("pto.tneg ins(%v, %v : !pto.tile_buf<vec, 16x16xf32>)", "ins: 2 values have 1 types"),
    ("pto.nothing", "custom op 'pto.nothing' is unknown"),
    (
        "%0 = pto.alloc_tile : !pto.tile_buf<vec, 16x8xf32, colour=1>",
        "'colour' is no part of a tile's type; there are ",
    ),
    ("%0 = pto.alloc_tile : !pto.tile_buf<gm, 16x8xf32>", "'gm' is no memory of a tile; there are vec, mat, left, "),
    ("%0 = pto.alloc_tile : !pto.tile_buf<vec, 16x8xf32, valid=17x8>", "a tile of 16x8 has no 17 valid rows"),
    ("%0 = pto.alloc_tile : !pto.tile_buf<loc=vec, rows=16, cols=8>", "a tile's type lacks 'dtype'"),
    ("%0 = pto.alloc_tile : !pto.tile_buf<vec, 0x8xf32>", "rows and cols of a tile are numbers of at least 1"),
    ("%0 = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32, pad=9>", "pad=9 is none of 0 to 3"),
    (
        "%0 = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32, blayout=odd>",
        "'odd' is no blayout; there are row_major, col_major",
    ),
    ("%0 = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32, pad=1, pad=1>", "'pad' stands twice in a tile's type"),
]


@pytest.mark.parametrize(("op", "text"), WRONG)
def test_what_cannot_be_read(op: str, text: str) -> None:
    with pytest.raises(Refused) as refused:
        parse(around(op), "a.mlir")
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.text.startswith(text)
    assert diagnostic.where is not None and diagnostic.where.line == 3


def test_a_kind_of_kernel_there_is_not() -> None:
    with pytest.raises(Refused) as refused:
        read("func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<scalar>} {\n  return\n}\n")
    assert refused.value.diagnostics[0].text == "'scalar' is no kernel_kind; there are cube, vector"


def test_wrong_types_are_found_by_the_verifier() -> None:
    (found,) = verify(parse(around("pto.tpush_to_aiv(%b : i32) {split = 0}"), "a.mlir"))
    assert found.text.startswith("'pto.tpush_to_aiv' op")
    assert found.where is not None and (found.where.line, found.where.col) == (3, 5)


def test_a_file_of_the_public_kind_is_read_as_it_is() -> None:
    """Both forms of types, an entry that calls both kernels, scf and arith around."""
    shape = "rows=16, cols=16, v_row=16, v_col=16"
    tile = "!pto.tile_buf<loc={}, dtype=f32, " + shape + ", blayout={}, slayout={}, fractal={}, pad=0>"
    acc, vec = tile.format("acc", "col_major", "row_major", 1024), tile.format("vec", "row_major", "none_box", 512)
    text = f"""
module {{
  func.func @both(%ws: !pto.ptr<f32>) attributes {{pto.entry}} {{
    func.call @left(%ws) : (!pto.ptr<f32>) -> ()
    func.call @right(%ws) : (!pto.ptr<f32>) -> ()
    return
  }}
  func.func private @left(%gm_slot_buffer: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0_i32 = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    pto.aic_initialize_pipe {{dir_mask = 1, slot_size = 1024}}
      (gm_slot_buffer = %gm_slot_buffer : !pto.ptr<f32>,
       c2v_consumer_buf = %c0_i32 : i32,
       v2c_consumer_buf = %c0_i32 : i32)
    %acc = pto.alloc_tile : {acc}
    scf.for %i = %c0 to %c4 step %c1 {{
      pto.tpush_to_aiv(%acc : {acc}) {{split = 0}}
    }}
    return
  }}
  func.func private @right(%gm_slot_buffer: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 1024}} (gm_slot_buffer = %gm_slot_buffer : !pto.ptr<f32>)
    scf.for %i = %c0 to %c4 step %c1 {{
      %tile = pto.tpop_from_aic {{split = 0}}
        -> {vec}
      pto.tprint ins(%tile : {vec})
      pto.tfree_from_aic {{split = 0}}
    }}
    return
  }}
}}
"""
    (cluster,) = clusters(text)
    assert (cluster.cube.name, cluster.vector.name) == ("left", "right")
    again = print_module(read(text))
    assert print_module(read(again)) == again
