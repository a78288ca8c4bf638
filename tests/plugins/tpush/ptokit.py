"""What tests of the dialect `pto` have in common: designs from few words, and what is said of them."""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from aiecc.api import Diagnostic, Sink
from aiecc.ir.text import parse
from aiecc.plugins.tpush.extract import clusters_of
from aiecc.plugins.tpush.model import Cluster
from aiecc.plugins.tpush.rules import verify_pipes

CASES = Path(__file__).parent / "cases"

ACC = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
VEC = "!pto.tile_buf<vec, 16x16xf32>"
NZ = "!pto.tile_buf<vec, 16x16xf32, blayout=col_major, slayout=row_major>"
MAT = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
HALF = "!pto.tile_buf<vec, 8x16xf32>"
HALF_NZ = "!pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>"

PUSH_C = f"pto.tpush_to_aiv(%a : {ACC}) {{split = 0}}"
POP_V = f"%p = pto.tpop_from_aic {{split = 0}} -> {VEC}"
USE_V = f"pto.tneg ins(%p : {VEC}) outs(%o : {VEC})"
FREE_V = "pto.tfree_from_aic {split = 0}"
PUSH_V = f"pto.tpush_to_aic(%v : {NZ}) {{split = 0}}"
POP_C = f"%q = pto.tpop_from_aiv {{split = 0}} -> {MAT}"
FREE_C = "pto.tfree_from_aiv {split = 0}"

TILE_A = f"%a = pto.alloc_tile : {ACC}"
TILE_O = f"%o = pto.alloc_tile : {VEC}"
TILE_V = f"%v = pto.alloc_tile : {NZ}"

RESERVE = (
    '%c2v = pto.reserve_buffer {{name = "c2v", size = {size}, location = #pto.address_space<vec>, auto = true}} -> i32'
)
IMPORT = '%c2v = pto.import_reserved_buffer {name = "c2v", peer_func = @vector} -> i32'
RESERVE_M = (
    '%v2c = pto.reserve_buffer {name = "v2c", size = 8192, location = #pto.address_space<mat>, auto = true} -> i32'
)
IMPORT_M = '%v2c = pto.import_reserved_buffer {name = "v2c", peer_func = @cube} -> i32'
INIT_C = "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %c2v : i32)"
INIT_V = "pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %c2v : i32)"
GM_C = "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %ws : !pto.ptr<f32>)"
GM_V = "pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %ws : !pto.ptr<f32>)"
WS = "%ws: !pto.ptr<f32>"

# A5, Cube to Vector, one tile: what rules change one line of.
CUBE = (IMPORT, INIT_C, TILE_A, PUSH_C)
VECTOR = (RESERVE.format(size=8192), INIT_V, TILE_O, POP_V, USE_V, FREE_V)
# The same on A2A3.
CUBE_GM = (GM_C, TILE_A, PUSH_C)
VECTOR_GM = (GM_V, TILE_O, POP_V, USE_V, FREE_V)
# A5, Vector to Cube.
CUBE_V2C = (RESERVE_M, INIT_C.replace("= 1,", "= 2,").replace("c2v", "v2c"), POP_C, FREE_C)
VECTOR_V2C = (IMPORT_M, INIT_V.replace("= 1,", "= 2,").replace("c2v", "v2c"), TILE_V, PUSH_V)


def design(cube: tuple[str, ...], vector: tuple[str, ...], arch: str = "", args: tuple[str, str] = ("", "")) -> str:
    """A module with one kernel of each kind. The Cube's ops start in line 3; behind them come 3 lines."""
    head = f' attributes {{"pto.target_arch" = "{arch}"}}' if arch else ""
    lines = [f"module{head} {{"]
    for name, ops, arguments in (("cube", cube, args[0]), ("vector", vector, args[1])):
        lines.append(f"  func.func @{name}({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<{name}>}} {{")
        lines += [f"    {op}" for op in ops]
        lines += ["    return", "  }"]
    return "\n".join([*lines, "}", ""])


def changed(ops: tuple[str, ...], *changes: tuple[str, str]) -> tuple[str, ...]:
    """Lines with words replaced. A word that is not there is a mistake of the test."""
    text = "\n".join(ops)
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return tuple(line for line in text.split("\n") if line)


def read(text: str, first_line: int = 1) -> ModuleOp:
    return parse(text, "a.mlir", first_line=first_line)


def verified(text: str) -> list[Diagnostic]:
    """What the rules say of a text."""
    diag = Sink()
    verify_pipes(read(text), diag)
    return diag.items


def clusters(text: str) -> list[Cluster]:
    """The clusters of a text that the rules have nothing against."""
    module, diag = read(text), Sink()
    verify_pipes(module, diag)
    assert [d.text for d in diag.items if d.is_error] == []
    found = clusters_of(module, diag)
    assert [d.text for d in diag.items if d.is_error] == []
    return found


def parts(name: str) -> list[str]:
    """The designs of a worked example."""
    return (CASES / f"{name}.pto.mlir").read_text("utf-8").split("// -----\n")
