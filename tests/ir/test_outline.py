"""Cores cut out of their design; mlir-opt judges what comes out."""

from __future__ import annotations

import mlirtools
import pytest
from passkit import FILE, Ran, line_of

from aiecc.base.diag import Sink
from aiecc.ir.outline import BUFFER_NAME, CORE_NAME, MARKER, Outliner, join, outline, split
from aiecc.ir.text import parse, print_module
from aiecc.model.ids import CoreId
from aiecc.model.program import CoreProgram

TRIPLE = "riscv32-unknown-elf"
RENAME = (("llvm.aie2p.", "__aiecc_"), ("llvm.aie2.", "__aiecc_"), ("llvm.aie.", "__aiecc_aie1_"))
HERE = CoreId("main", 0, 2)


def cut(text: str, core: CoreId = HERE, **more) -> CoreProgram:
    sink = Sink()
    made = outline(parse(text, FILE), core, sink=sink, triple=more.pop("triple", TRIPLE), rename=RENAME, **more)
    assert made is not None, [d.text for d in sink.items]
    assert not sink.items
    return made


def complaints(text: str, core: CoreId = HERE):
    sink = Sink()
    assert outline(parse(text, FILE), core, sink=sink, triple=TRIPLE) is None
    return sink.items


def core(body: str, device: str = "npu2", before: str = "") -> str:
    head = f"aie.device({device}) {{\n  %t = aie.tile(0, 2)\n{before}\n"
    return f"{head}  %core = aie.core(%t) {{\n{body}\n    aie.end\n  }}\n}}"


DESIGN = """
aie.device(npu2) {
  %t = aie.tile(0, 2)
  %n = aie.tile(0, 3)
  %own = aie.buffer(%t) {sym_name = "own"} : memref<4xi32> = dense<[1, 2, 3, 4]>
  %idle = aie.buffer(%t) {sym_name = "idle"} : memref<4xi32>
  %far = aie.buffer(%n) {sym_name = "far"} : memref<4xi32> = dense<5>
  %free = aie.lock(%n, 2) {init = 1 : i32}
  memref.global "private" constant @table : memref<4xi32> = dense<[9, 8, 7, 6]>
  memref.global "private" constant @unused : memref<4xi32> = dense<0>
  func.func private @kernel(memref<4xi32>, memref<4xi32>) attributes {link_with = "k.o", stack_size_override = 8 : i32}
  func.func private @other(memref<4xi32>) attributes {link_with = "o.o"}
  func.func @twice(%x: i32) -> i32 {
    %y = arith.addi %x, %x : i32
    return %y : i32
  }
  %core_0_2 = aie.core(%t) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    aie.use_lock(%free, AcquireGreaterEqual, %one)
    %g = memref.get_global @table : memref<4xi32>
    %v = memref.load %g[%c0] : memref<4xi32>
    %w = func.call @twice(%v) : (i32) -> i32
    memref.store %w, %own[%c0] : memref<4xi32>
    func.call @kernel(%own, %far) : (memref<4xi32>, memref<4xi32>) -> ()
    aie.use_lock(%free, Release, %one)
    aie.end
  } {stack_size = 2048 : i32}
  %core_0_3 = aie.core(%n) {
    aie.end
  }
}"""


def test_a_program_holds_what_its_core_needs_and_nothing_else():
    text = cut(DESIGN).text
    assert text.splitlines()[0] == (
        "module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>, "
        'llvm.target_triple = "riscv32-unknown-elf"} {'
    )
    for name in ("@table", "@kernel", "@twice", "@__aiecc_acquire", "@__aiecc_release"):
        assert name in text
    for name in ("idle", "unused", "@other", "aie.", "stack_size", "link_with", "core_0_3"):
        assert name not in text


def test_names_that_tell_cores_apart_are_canonical_and_can_be_put_back():
    made = cut(DESIGN)
    assert "core_0_2" not in made.text and "own" not in made.text.replace("unknown", "")
    assert made.names == ((CORE_NAME, "core_0_2"), (f"{BUFFER_NAME}0", "own"), (f"{BUFFER_NAME}1", "far"))


def test_only_the_own_tiles_buffers_keep_their_values():
    lines = [line.strip() for line in cut(DESIGN).text.splitlines() if BUFFER_NAME in line and "memref.global" in line]
    assert lines == [
        f'memref.global "public" @{BUFFER_NAME}0 : memref<4xi32> = dense<[1, 2, 3, 4]>',
        f'memref.global "public" @{BUFFER_NAME}1 : memref<4xi32>',
    ]


def test_the_design_is_not_changed():
    module = parse(DESIGN, FILE)
    before = print_module(module)
    uses = [len(list(op.results[0].uses)) for op in module.walk() if op.results]
    assert outline(module, HERE, sink=Sink(), triple=TRIPLE) is not None
    assert print_module(module) == before
    assert [len(list(op.results[0].uses)) for op in module.walk() if op.results] == uses


TWINS = """
aie.device(npu2) {
  %a = aie.tile(0, 2)
  %b = aie.tile(4, 5)
  %x = aie.buffer(%a) {sym_name = "first_in"} : memref<4xi32>
  %y = aie.buffer(%b) {sym_name = "second_in"} : memref<4xi32>
  %la = aie.lock(%a, 3) {sym_name = "first_lock"}
  %lb = aie.lock(%b, 3) {sym_name = "second_lock"}
  %ca = aie.core(%a) {
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    aie.use_lock(%la, Release, %one)
    memref.store %one, %x[%c0] : memref<4xi32>
    aie.end
  }
  %cb = aie.core(%b) {
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : index
    aie.use_lock(%lb, Release, %one)
    memref.store %one, %y[%zero] : memref<4xi32>
    aie.end
  }
}"""


def test_cores_that_do_the_same_are_the_same_text():
    first, second = cut(TWINS), cut(TWINS, CoreId("main", 4, 5))
    assert first.text == second.text
    assert first.names[1][1] == "first_in" and second.names[1][1] == "second_in"


def test_cores_that_use_another_lock_are_not():
    text = TWINS.replace("aie.lock(%b, 3)", "aie.lock(%b, 4)")
    assert cut(text).text != cut(text, CoreId("main", 4, 5)).text


def test_memory_spaces_are_gone():
    text = core(
        "    func.call @k(%b) : (memref<4xi32, 6>) -> ()",
        before="""
  %b = aie.buffer(%t) {sym_name = "b"} : memref<4xi32, 6>
  func.func private @k(memref<4xi32, 6>)""",
    )
    assert "6>" not in cut(text).text


def test_constants_and_views_of_the_device_come_along():
    text = core(
        "    func.call @k(%view) : (memref<2xi32, strided<[1]>>) -> ()",
        before="""
  %b = aie.buffer(%t) {sym_name = "b"} : memref<4xi32>
  %view = memref.subview %b[0] [2] [1] : memref<4xi32> to memref<2xi32, strided<[1]>>
  func.func private @k(memref<2xi32, strided<[1]>>)""",
    )
    assert "memref.subview" in cut(text).text


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "word", "says"),
    [
        (
            "    func.call @nowhere() : () -> ()",
            "@nowhere",
            "'func.call' op 'nowhere' does not reference a valid function",
        ),
        (
            "    %i = arith.constant 1 : i32\n    func.call @k(%i) : (i32) -> ()",
            "@k(%i)",
            "'func.call' op operand type mismatch: expected operand type 'index', but provided 'i32' "
            "for operand number 0",
        ),
        ("    func.call @k() : () -> ()", "@k()", "'func.call' op incorrect number of operands for callee"),
        (
            "    %v = arith.constant dense<1> : vector<16xi32>\n    %w = aievec.add_elem %v, %v : vector<16xi32>",
            "aievec",
            "'aievec.add_elem' op cannot be compiled: there is no code generator for its dialect here",
        ),
        (
            "    %a = aie.objectfifo.acquire @of(Consume, 1) : !aie.objectfifosubview<memref<4xi32>>\n"
            "    aie.objectfifo.release @of(Consume, 1)",
            "acquire",
            "'aie.objectfifo.acquire' op cannot be compiled for a core: no pass has lowered it",
        ),
        (
            "    %i = arith.index_cast %t : index to i32",
            "index_cast",
            "'arith.index_cast' op uses the result of an 'aie.tile' from outside the core; "
            "only locks, buffers and constants can be used there",
        ),
        (
            "    %one = arith.constant 1 : i32\n    aie.use_lock(%l, Release, %one)",
            "aie.lock",
            "'aie.lock' op has no id yet; run --aie-assign-lock-ids first",
        ),
    ],
)
def test_what_cannot_be_cut_out_is_said_at_the_users_line(body: str, word: str, says: str):
    text = core(body, before="  func.func private @k(index)\n  %l = aie.lock(%t)")
    (said,) = complaints(text)
    assert said.text == says
    assert said.where is not None and (said.where.file, said.where.line) == (FILE, line_of(text, word))


# --- many cores in one process ----------------------------------------------------------------------------------------


def test_what_is_joined_can_be_split_again():
    programs = [CoreProgram(f"module @m{i} {{\n}}\n") for i in range(3)]
    parts = split(join(programs))
    assert parts == [p.text for p in programs]
    assert split("one") == ["one"]
    assert MARKER in join(programs)


@pytest.mark.tools
def test_the_tools_print_as_many_parts_as_they_were_given():
    device = Ran(TWINS).device
    outliner = Outliner(device, Sink(), triple=TRIPLE, rename=RENAME)
    programs = [outliner.outline(CoreId("main", *at)) for at in ((0, 2), (4, 5))]
    text = join([p for p in programs if p is not None])
    lowered = mlirtools.run(
        "mlir", "mlir-opt", f"--pass-pipeline={mlirtools.PIPELINE}", "--split-input-file", text=text
    )
    assert len(split(lowered)) == 2
    args = ("--mlir-to-llvmir", "--split-input-file", f"--output-split-marker={MARKER}")
    parts = split(mlirtools.run("mlir", "mlir-translate", *args, text=lowered))
    assert len(parts) == 2 and all(f"define void @{CORE_NAME}()" in part for part in parts)


# --- mlir-opt's opinion -----------------------------------------------------------------------------------------------


@pytest.mark.tools
def test_the_example_becomes_llvm_ir():
    text = mlirtools.to_llvm(cut(DESIGN).text)
    assert f'target triple = "{TRIPLE}"' in text
    assert f"@{BUFFER_NAME}0 = global [4 x i32] [i32 1, i32 2, i32 3, i32 4]" in text
    assert f"@{BUFFER_NAME}1 = external global [4 x i32]" in text
    assert "declare void @kernel(ptr, ptr)" in text
    # Lock 2 of the northern neighbour is 34; "at least one" is -1.
    assert "call void @__aiecc_acquire(i32 34, i32 -1)" in text
    assert "call void @__aiecc_release(i32 34, i32 1)" in text


@pytest.mark.tools
def test_functions_and_globals_of_the_llvm_dialect_come_along():
    text = core(
        """
    %v = arith.constant 65 : i32
    %r = llvm.call @ext(%v) : (i32) -> i32
    %p = llvm.mlir.addressof @g : !llvm.ptr
    llvm.call @more(%p) : (!llvm.ptr) -> ()""",
        before="""
  llvm.func @ext(i32) -> i32
  llvm.func @more(!llvm.ptr)
  llvm.func @idle()
  llvm.mlir.global internal @g(7 : i32) {addr_space = 0 : i32} : i32""",
    )
    ir = mlirtools.to_llvm(cut(text).text)
    assert "@g = internal global i32 7" in ir
    assert "call i32 @ext(i32 65)" in ir and "call void @more(ptr @g)" in ir and "@idle" not in ir


@pytest.mark.tools
def test_an_index_is_a_word_for_kernels():
    text = core(
        "    %i = arith.constant 7 : index\n    func.call @k(%i) : (index) -> ()",
        before="  func.func private @k(index)",
    )
    assert "call void @k(i32 7)" in mlirtools.to_llvm(cut(text).text)


OPS = {
    "while": """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %n = scf.while (%i = %c0) : (index) -> index {
      %less = arith.cmpi slt, %i, %c9 : index
      scf.condition(%less) %i : index
    } do {
    ^bb0(%i: index):
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    %i32 = arith.index_cast %n : index to i32
    memref.store %i32, %b[%c0] : memref<64xi32>""",
    "if and switch": """
    %c0 = arith.constant 0 : index
    %v = memref.load %b[%c0] : memref<64xi32>
    %t1 = arith.constant 1 : i32
    %yes = arith.cmpi sgt, %v, %t1 : i32
    %r = scf.if %yes -> (i32) {
      scf.yield %v : i32
    } else {
      scf.yield %t1 : i32
    }
    %i = arith.index_cast %r : i32 to index
    %s = scf.index_switch %i -> i32
    case 2 {
      scf.yield %r : i32
    }
    default {
      scf.yield %t1 : i32
    }
    memref.store %s, %b[%c0] : memref<64xi32>""",
    "branches": """
    %c0 = arith.constant 0 : index
    %v = memref.load %b[%c0] : memref<64xi32>
    %z = arith.constant 0 : i32
    %yes = arith.cmpi eq, %v, %z : i32
    cf.cond_br %yes, ^bb1, ^bb2(%v : i32)
  ^bb1:
    cf.br ^bb2(%z : i32)
  ^bb2(%p: i32):
    memref.store %p, %b[%c0] : memref<64xi32>""",
    "affine": """
    affine.for %i = 0 to 16 step 4 {
      %v = affine.load %b[%i + 1] : memref<64xi32>
      affine.store %v, %b[%i] : memref<64xi32>
    }""",
    "views": """
    %c1 = arith.constant 1 : index
    %r = memref.reinterpret_cast %b to offset: [4], sizes: [8], strides: [2]
      : memref<64xi32> to memref<8xi32, strided<[2], offset: 4>>
    %s = memref.subview %f[1, 0] [2, 8] [1, 1] : memref<8x8xf32> to memref<2x8xf32, strided<[8, 1], offset: 8>>
    %l = memref.collapse_shape %f [[0, 1]] : memref<8x8xf32> into memref<64xf32>
    %v = memref.load %r[%c1] : memref<8xi32, strided<[2], offset: 4>>
    memref.store %v, %r[%c1] : memref<8xi32, strided<[2], offset: 4>>
    %w = memref.load %s[%c1, %c1] : memref<2x8xf32, strided<[8, 1], offset: 8>>
    memref.store %w, %l[%c1] : memref<64xf32>""",
    "math": """
    %c0 = arith.constant 0 : index
    %x = memref.load %f[%c0, %c0] : memref<8x8xf32>
    %1 = math.exp %x : f32
    %2 = math.tanh %1 : f32
    %3 = math.rsqrt %2 : f32
    %4 = math.sqrt %3 : f32
    %5 = math.sin %4 : f32
    %6 = math.erf %5 : f32
    %7 = math.powf %6, %x : f32
    %8 = math.floor %7 : f32
    %9 = math.absf %8 : f32
    %10 = arith.maximumf %9, %x : f32
    %11 = arith.minnumf %10, %x : f32
    memref.store %11, %f[%c0, %c0] : memref<8x8xf32>""",
    "narrow": """
    %c0 = arith.constant 0 : index
    %x = memref.load %f[%c0, %c0] : memref<8x8xf32>
    %bf = arith.truncf %x : f32 to bf16
    %e = arith.extf %bf : bf16 to f32
    %i = arith.fptosi %e : f32 to i32
    %t8 = arith.trunci %i : i32 to i8
    %u = arith.extui %t8 : i8 to i32
    %s64 = arith.extsi %t8 : i8 to i64
    %n = arith.trunci %s64 : i64 to i32
    %d = arith.ceildivsi %u, %n : i32
    %fd = arith.floordivsi %d, %n : i32
    %m = arith.remsi %fd, %n : i32
    memref.store %m, %b[%c0] : memref<64xi32>""",
    "vectors": """
    %c0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    %v = vector.transfer_read %f[%c0, %c0], %z {in_bounds = [true, true]} : memref<8x8xf32>, vector<8x8xf32>
    %w = arith.addf %v, %v : vector<8x8xf32>
    vector.transfer_write %w, %f[%c0, %c0] {in_bounds = [true, true]} : vector<8x8xf32>, memref<8x8xf32>
    %l = vector.load %f[%c0, %c0] : memref<8x8xf32>, vector<8xf32>
    %e = math.exp %l : vector<8xf32>
    %t8 = math.tanh %e : vector<8xf32>
    %r = vector.reduction <add>, %t8 : vector<8xf32> into f32
    %s = vector.broadcast %r : f32 to vector<8xf32>
    %m = vector.fma %s, %l, %t8 : vector<8xf32>
    vector.store %m, %f[%c0, %c0] : memref<8x8xf32>, vector<8xf32>""",
    "local memory": """
    %c0 = arith.constant 0 : index
    %a = memref.alloca() : memref<16xi32>
    %v = memref.load %b[%c0] : memref<64xi32>
    memref.store %v, %a[%c0] : memref<16xi32>
    %w = memref.load %a[%c0] : memref<16xi32>
    memref.store %w, %b[%c0] : memref<64xi32>""",
    "poison": """
    %c0 = arith.constant 0 : index
    %p = ub.poison : i32
    memref.store %p, %b[%c0] : memref<64xi32>""",
    "cascade": """
    %v = aie.get_cascade() : vector<32xbf16>
    aie.put_cascade(%v : vector<32xbf16>)""",
    "stream": """
    %ch = arith.constant 0 : i32
    %v = aie.get_stream(%ch : i32) : f32
    aie.put_stream(%ch : i32, %v : f32)""",
}


@pytest.mark.tools
@pytest.mark.parametrize("kind", OPS)
def test_mlir_opt_lowers(kind: str):
    before = """
  %b = aie.buffer(%t) {sym_name = "b"} : memref<64xi32>
  %f = aie.buffer(%t) {sym_name = "f"} : memref<8x8xf32>"""
    text = mlirtools.to_llvm(cut(core(OPS[kind], before=before)).text)
    assert f"define void @{CORE_NAME}()" in text
    assert f"{CORE_NAME}:" in mlirtools.compiled(text)


@pytest.mark.tools
def test_errors_of_mlir_opt_name_the_users_line():
    # Positions are not checked before mlir-opt sees them.
    text = core("""
    %v = arith.constant dense<1> : vector<4xi32>
    %w = vector.extract %v[7] : i32 from vector<4xi32>""")
    program = cut(text, with_locations=True)
    assert program.text != cut(text).text
    assert f"{FILE}:{line_of(text, 'vector.extract')}:10: error: 'vector.extract' op" in mlirtools.refused(program.text)
