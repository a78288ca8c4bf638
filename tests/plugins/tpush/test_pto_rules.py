"""Every rule about pipes: what is refused, at which line, in which words, and what to type."""

import pytest
from ptokit import (
    ACC,
    CUBE,
    CUBE_GM,
    CUBE_V2C,
    FREE_C,
    FREE_V,
    GM_C,
    GM_V,
    IMPORT,
    INIT_C,
    INIT_V,
    NZ,
    POP_C,
    POP_V,
    PUSH_C,
    TILE_A,
    TILE_O,
    USE_V,
    VEC,
    VECTOR,
    VECTOR_GM,
    VECTOR_V2C,
    WS,
    changed,
    design,
    verified,
)

Change = tuple[str, str]
LANE = (
    "%lane = pto.get_subblock_idx",
    "%zero = arith.constant 0 : i64",
    "%first = arith.cmpi eq, %lane, %zero : i64",
)
BOUNDS = ("%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index")
FOR = "scf.for %i = %c0 to %n step %c1 {"
N = ("%n: index", "%n: index")
WORKSPACE = (WS, WS)
WHILE = ("scf.while : () -> () {", "%t = arith.constant true", "scf.condition(%t)", "} do {")
RESERVE = VECTOR[0]
BOTH_C, BOTH_V = (
    init.replace("= 1,", "= 3,").replace(")", ", v2c_consumer_buf = %v2c : i32)") for init in (INIT_C, INIT_V)
)
NEXT = POP_V.replace("%p", "%r")


def a5(cube: list[Change], vector: list[Change], arch: str = "", base=(CUBE, VECTOR), args=("", "")) -> str:
    return design(changed(base[0], *cube), changed(base[1], *vector), arch, args)


def both(*change: Change, base=(CUBE, VECTOR), args=("", "")) -> str:
    """The same change on both sides."""
    return a5(list(change), list(change), "", base, args)


def gm(cube: list[Change], vector: list[Change], arch: str = "") -> str:
    return a5(cube, vector, arch, (CUBE_GM, VECTOR_GM), WORKSPACE)


def tile(space: str, rows: int, cols: int, element: str = "f32") -> str:
    fractal = ", blayout=col_major, slayout=row_major" if space != "vec" else ""
    return f"!pto.tile_buf<{space}, {rows}x{cols}x{element}{fractal}>"


def c2v(split: int, whole: tuple[int, int], part: tuple[int, int], arch: str = "a5", element: str = "f32") -> str:
    """One tile, Cube to Vector, slots of 8192 bytes: pushed by the Cube's last op, popped by the third of the other."""
    a, p = tile("acc", *whole, element), tile("vec", *part, element)
    push = (f"%a = pto.alloc_tile : {a}", f"pto.tpush_to_aiv(%a : {a}) {{split = {split}}}")
    pop = (f"%p = pto.tpop_from_aic {{split = {split}}} -> {p}", f"pto.tfree_from_aic {{split = {split}}}")
    if arch == "a5":
        heads = (IMPORT, INIT_C.replace("1024", "8192")), (RESERVE.replace("8192", "65536"), INIT_V)
        heads = heads[0], (heads[1][0], heads[1][1].replace("1024", "8192"))
        return design((*heads[0], *push), (*heads[1], *pop), arch)
    return design((GM_C.replace("1024", "8192"), *push), (GM_V.replace("1024", "8192"), *pop), arch, WORKSPACE)


def v2c(split: int, whole: tuple[int, int], part: tuple[int, int], element: str = "f32") -> str:
    """One tile, Vector to Cube, on A2A3."""
    inits = [each.replace("dir_mask = 1", "dir_mask = 2").replace("1024", "8192") for each in (GM_C, GM_V)]
    q, v = tile("mat", *whole, element), tile("vec", *part, element)
    cube = (inits[0], f"%q = pto.tpop_from_aiv {{split = {split}}} -> {q}", f"pto.tfree_from_aiv {{split = {split}}}")
    vector = (inits[1], f"%v = pto.alloc_tile : {v}", f"pto.tpush_to_aic(%v : {v}) {{split = {split}}}")
    return design(cube, vector, "a3", WORKSPACE)


BLOCKS = (
    "%b = pto.get_block_idx",
    "%bi = arith.index_cast %b : i64 to index",
    "%step = arith.constant 1024 : index",
    "%off = arith.muli %bi, %step : index",
    "%w = pto.addptr %ws, %off : !pto.ptr<f32> -> !pto.ptr<f32>",
)
FAR = (*BLOCKS[:2], BLOCKS[2].replace("1024", "2048"), *BLOCKS[3:])
SMALL = tile("acc", 8, 16)
PUSH_B = PUSH_C.replace(f"%a : {ACC}", f"%b : {SMALL}")


@pytest.mark.parametrize(
    "text",
    [
        design(CUBE, VECTOR),
        design(CUBE, VECTOR, "a5"),
        design(CUBE_GM, VECTOR_GM, "", WORKSPACE),
        design(CUBE_GM, VECTOR_GM, "a3", WORKSPACE),
        design(CUBE_V2C, VECTOR_V2C),
        c2v(1, (16, 16), (8, 16)),
        c2v(2, (16, 64), (16, 32)),
        c2v(3, (17, 16), (9, 16), "a2"),
        v2c(2, (16, 16), (16, 8)),
        design((*FAR, *changed(CUBE_GM, ("%ws", "%w"))), (*FAR, *changed(VECTOR_GM, ("%ws", "%w"))), "", WORKSPACE),
        design(CUBE, (RESERVE, INIT_V, *LANE, "scf.if %first {", POP_V, FREE_V, "}"), "a5"),
    ],
)
def test_good_designs(text: str) -> None:
    assert verified(text) == []


# Name: text of the design, line of the error, its text, what to type.
ONE = {
    "platform": (
        design(CUBE, VECTOR, "a9"),
        1,
        "'a9' is no platform that pipes are known of; there are a2, a3 and a5",
        'write module attributes {pto.target_arch = "a5"}',
    ),
    "split": (
        a5([("split = 0", "split = 5")], []),
        6,
        "split = 5 is no split: 0 none, 1 up-down, 2 left-right, 3 and 4 the same for an odd number of rows or columns",
        "",
    ),
    "wrong core, set-up": (
        a5([("pto.aic_init", "pto.aiv_init")], []),
        4,
        "'pto.aiv_initialize_pipe' runs on a Vector core, but 'cube' is a cube kernel",
        "write pto.aic_initialize_pipe",
    ),
    "wrong core, free": (
        design((*CUBE, FREE_V), VECTOR),
        7,
        "'pto.tfree_from_aic' runs on a Vector core, but 'cube' is a cube kernel",
        "write pto.tfree_from_aiv",
    ),
    "no core": (
        design(CUBE, VECTOR).replace(" attributes {pto.kernel_kind = #pto.kernel_kind<cube>}", ""),
        3,
        "'pto.import_reserved_buffer' stands in 'cube', which does not say what it runs on",
        "write func.func @cube(..) attributes {pto.kernel_kind = #pto.kernel_kind<cube>}",
    ),
    "no such pipe": (
        a5([("{split = 0}", "{id = 3, split = 0}")], []),
        6,
        "'cube' sets up no pipe 3; there is 0",
        "write pto.aic_initialize_pipe {id = 3, dir_mask = 1, slot_size = ..}",
    ),
    "direction not active": (
        design((*CUBE, POP_C), VECTOR),
        7,
        "pipe 0 does not go from Vector to Cube: its dir_mask is 1",
        "set dir_mask = 3 on both sides",
    ),
    "nosplit": (
        a5([("{dir", "{nosplit = true, dir"), ("split = 0", "split = 1")], [("{dir", "{nosplit = true, dir")]),
        6,
        "pipe 0 moves whole tiles only",
        "set split = 0, or leave nosplit out on both sides",
    ),
    "odd split on A5": (
        a5([("split = 0", "split = 3")], []),
        6,
        "split = 3 (odd) needs a ring in global memory; A5 has none",
        "pad the tile to an even extent",
    ),
    "odd split to the Cube": (
        a5([], [("split = 0", "split = 4")], "", (CUBE_V2C, VECTOR_V2C)),
        13,
        "split = 4 (odd) is of Cube to Vector only: Vector to Cube, both lanes have equal parts",
        "pad the tile to an even extent",
    ),
    "mixed splits": (
        design((*CUBE, PUSH_C.replace("= 0", "= 1")), VECTOR),
        7,
        "pipe 0 moves whole tiles (split = 0) and split ones; who shakes hands would change",
        "set split = 0, or use a pipe of its own",
    ),
    "pushed from the wrong memory": (
        a5([("<acc,", "<left,")], []),
        6,
        "a tile is pushed from L0C (acc) or L1 (mat) Cube to Vector, not L0A (left)",
        "write !pto.tile_buf<loc=acc, ..>",
    ),
    "popped into the wrong memory": (
        a5([], [(f"-> {VEC}", f"-> {tile('mat', 16, 16)}"), (f"ins(%p : {VEC}", f"ins(%p : {tile('mat', 16, 16)}")]),
        13,
        "a tile is popped into UB (vec) Cube to Vector, not L1 (mat)",
        "write !pto.tile_buf<loc=vec, ..>",
    ),
    "elements of no whole bytes": (
        a5([("16x16xf32", "16x16xi4")], []),
        6,
        "an element of this tile has no whole number of bytes, so its place in a slot cannot be told",
        "",
    ),
    "reserved in another's memory": (
        a5([], [("space<vec>", "space<mat>")]),
        10,
        "'c2v' cannot lie in L1 (mat): 'vector' is a vector kernel",
        "set location = #pto.address_space<vec>",
    ),
    "neither automatic nor fixed": (
        a5([], [("auto = true", "auto = false")]),
        10,
        "'c2v' is neither placed by itself (auto = true) nor has it a base",
        "write auto = true, or base = .. behind it",
    ),
    "base not aligned": (
        a5([], [("auto = true", "auto = false, base = 40")]),
        10,
        "'c2v' starts at 40, no multiple of 32",
        "set base = 64",
    ),
    "base not aligned in L1 of A2A3": (
        design(
            (GM_C, CUBE_V2C[0].replace("auto = true", "auto = false, base = 64"), *CUBE_GM[1:]),
            VECTOR_GM,
            "",
            WORKSPACE,
        ),
        4,
        "'v2c' starts at 64, no multiple of 128",
        "set base = 128",
    ),
    "beyond the memory": (
        a5([], [("auto = true", "auto = false, base = 245760")]),
        10,
        "'c2v' ends at 253952, but UB (vec) has 245760 bytes to give",
        "set base = 237568 or less",
    ),
    "larger than the memory": (
        a5([], [("size = 8192", "size = 300000")]),
        10,
        "'c2v' has 300000 bytes, but UB (vec) has 245760 to give",
        "",
    ),
    "empty": (a5([], [("size = 8192", "size = 0")]), 10, "'c2v' has 0 bytes: a buffer has at least one slot", ""),
    "ring larger than reserved": (
        a5([], [("size = 8192", "size = 4096")]),
        10,
        "'c2v' has 4096 bytes, but 8 slots of 1024 need 8192",
        "set size = 8192",
    ),
    "landing window larger than reserved": (
        design(
            (GM_C.replace("{dir", "{local_slot_num = 2, dir"), *CUBE_GM[1:]),
            (
                RESERVE.replace("8192", "1024"),
                GM_V.replace("{dir", "{local_slot_num = 2, dir").replace(">)", ">, c2v_consumer_buf = %c2v : i32)"),
                *VECTOR_GM[1:],
            ),
            "",
            WORKSPACE,
        ),
        9,
        "'c2v' has 1024 bytes, but 2 slots of 1024 need 2048",
        "set size = 2048",
    ),
    "free of something else": (
        design(CUBE, (*VECTOR[:-1], f"pto.tfree_from_aic(%o : {VEC}) {{split = 0}}")),
        15,
        "what is freed here was not popped from pipe 0 Cube to Vector",
        "leave the tile out: the oldest one that is held is freed",
    ),
    "set up twice": (
        design((*CUBE, INIT_C), VECTOR),
        7,
        "pipe 0 is set up twice in 'cube'",
        "leave one of them out, or give the pipes ids of their own",
    ),
    "set up in a branch": (
        design((IMPORT, "%t = arith.constant true", "scf.if %t {", INIT_C, "}", TILE_A, PUSH_C), VECTOR),
        6,
        "pipe 0 is set up inside 'scf.if', so perhaps not once",
        "set it up at the top of the function",
    ),
    "used before it is set up": (
        design((IMPORT, TILE_A, PUSH_C, INIT_C), VECTOR),
        5,
        "pipe 0 is used before it is set up",
        "set it up at the top of the function",
    ),
    "two buffers of one name": (
        design(CUBE, (RESERVE, RESERVE.replace("%c2v", "%d"), *VECTOR[1:])),
        11,
        "'vector' reserves two buffers named 'c2v'",
        "",
    ),
    "imported twice": (
        design((IMPORT, IMPORT.replace("%c2v", "%d"), *CUBE[1:]), VECTOR),
        4,
        "'c2v' of 'vector' is imported twice",
        "use the first one",
    ),
    "imported from nobody": (
        a5([("@vector", "@nobody")], []),
        3,
        "there is no function 'nobody'",
        "set peer_func = @vector",
    ),
    "imported under another name": (
        a5([('"c2v"', '"other"')], []),
        3,
        "'vector' reserves no buffer named 'other'; it reserves 'c2v'",
        'set name = "c2v"',
    ),
    "imported from its own kind": (
        a5([("@vector", "@cube")], []),
        3,
        "'cube' is a cube kernel as 'cube' is: pipes join a Cube and Vector cores",
        "",
    ),
    "nobody to share with": (
        design(CUBE_GM, (), "", (WS, "")),
        2,
        "nobody says which vector kernel 'cube' shares its pipes with",
        "call both from one function, or import the buffer (pto.import_reserved_buffer) from the other one",
    ),
    "set up on one side": (
        design((*CUBE_GM, GM_C.replace("{dir", "{id = 1, dir")), VECTOR_GM, "", WORKSPACE),
        6,
        "pipe 1 is set up in 'cube', but not in 'vector'",
        "write pto.aiv_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024} (..) there",
    ),
    "dir_mask": (
        gm([], [("dir_mask = 1", "dir_mask = 3")]),
        9,
        "the sides of pipe 0 disagree: dir_mask is 3 here, 1 in 'cube'",
        "set dir_mask = 1 on both sides",
    ),
    "slot_size": (
        gm([], [("slot_size = 1024", "slot_size = 2048")]),
        9,
        "the sides of pipe 0 disagree: slot_size is 2048 here, 1024 in 'cube'",
        "set slot_size = 2048 on both sides",
    ),
    "slot_num": (
        gm([], [("{dir", "{slot_num = 4, dir")]),
        9,
        "the sides of pipe 0 disagree: slot_num is 4 here, 8 in 'cube'",
        "set slot_num = 8 on both sides",
    ),
    "nosplit on one side": (
        gm([], [("{dir", "{nosplit = true, dir")]),
        9,
        "the sides of pipe 0 disagree: nosplit is true here, false in 'cube'",
        "set nosplit = false on both sides",
    ),
    "local_slot_num on one side": (
        gm([], [("{dir", "{local_slot_num = 2, dir")]),
        9,
        "the sides of pipe 0 disagree: local_slot_num is 2 here, not given in 'cube'",
        "leave local_slot_num out on both sides",
    ),
    "flags": (
        gm([("{dir", "{slot_num = 9, dir")], [("{dir", "{slot_num = 9, dir")]),
        3,
        "pipe 0 needs 9 flags of each wire; there are 8",
        "set slot_num = 8 on both sides",
    ),
    "a buffer for a direction that is not active": (
        design(
            (
                IMPORT,
                "%x = arith.constant 64 : i32",
                INIT_C.replace(" : i32)", " : i32, v2c_consumer_buf = %x : i32)"),
                *CUBE[2:],
            ),
            VECTOR,
        ),
        5,
        "pipe 0 does not go from Vector to Cube, so v2c_consumer_buf is 0",
        "leave v2c_consumer_buf out, or set dir_mask = 3 on both sides",
    ),
    "no buffer for a direction that is active": (
        design((INIT_C.replace("c2v_consumer_buf = %c2v : i32", ""), *CUBE[2:]), VECTOR),
        3,
        "pipe 0 goes from Cube to Vector, but its ring has no place in UB (vec)",
        'write c2v_consumer_buf = pto.import_reserved_buffer {name = "c2v", peer_func = @vector}',
    ),
    "0 for a direction that is active": (
        design(CUBE, ("%c2v = arith.constant 0 : i32", *VECTOR[1:])).replace(IMPORT, "%c2v = arith.constant 64 : i32"),
        11,
        "pipe 0 goes from Cube to Vector, but its ring has no place in UB (vec)",
        'write c2v_consumer_buf = pto.reserve_buffer {name = "c2v", size = 8192, '
        "location = #pto.address_space<vec>, auto = true}",
    ),
    "reserved by the producer": (
        design((RESERVE.replace("<vec>", "<mat>"), *CUBE[1:]), VECTOR),
        4,
        "the ring Cube to Vector lies in the consumer's memory, not in that of 'cube'",
        'write pto.import_reserved_buffer {name = "c2v", peer_func = @vector} -> i32',
    ),
    "an address that is computed": (
        design(("%c2v = arith.addi %x, %x : i32", *CUBE[1:]), VECTOR, args=("%x: i32", "%x: i32")),
        4,
        "where the ring Cube to Vector lies must be known: an address that is computed is not",
        'write c2v_consumer_buf = pto.reserve_buffer {name = "c2v", size = 8192, '
        "location = #pto.address_space<vec>, auto = true}",
    ),
    "different addresses": (
        design(
            ("%c2v = arith.constant 64 : i32", *CUBE[1:]),
            ("%c2v = arith.constant 128 : i32", *VECTOR[1:]),
        ),
        11,
        "the sides of pipe 0 use different rings Cube to Vector: 128 here, 64 in 'cube'",
        "",
    ),
    "different rings": (
        design(("%c2v = arith.constant 64 : i32", *CUBE[1:]), VECTOR),
        11,
        "the sides of pipe 0 use different rings Cube to Vector: 'c2v' here, a fixed address in 'cube'",
        "",
    ),
    "a tile on a ring": (
        design(
            CUBE,
            (
                RESERVE.replace("auto = true", "auto = false, base = 0"),
                "%l = arith.constant 8160 : i64",
                INIT_V,
                TILE_O.replace("alloc_tile", "alloc_tile addr = %l"),
                *VECTOR[3:],
            ),
        ),
        13,
        "this tile [8160, 9184) overlaps 'c2v' [0, 8192) in UB (vec)",
        "start it at 8192",
    ),
    "a ring on a ring": (
        design(
            CUBE,
            (
                RESERVE.replace("auto = true", "auto = false, base = 0"),
                RESERVE.replace("c2v", "d").replace("auto = true", "auto = false, base = 8160"),
                *VECTOR[1:],
            ),
        ),
        11,
        "'d' [8160, 16352) overlaps 'c2v' [0, 8192) in UB (vec)",
        "start it at 16352",
    ),
    "a ring at an odd address": (
        design(("%c2v = arith.constant 40 : i32", *CUBE[1:]), ("%c2v = arith.constant 40 : i32", *VECTOR[1:])),
        11,
        "the ring Cube to Vector of pipe 0 starts at 40, no multiple of 32",
        "start it at 64",
    ),
    "a ring beyond the memory": (
        design(("%c2v = arith.constant 245760 : i32", *CUBE[1:]), ("%c2v = arith.constant 245760 : i32", *VECTOR[1:])),
        11,
        "the ring Cube to Vector of pipe 0 [245760, 253952) lies outside of UB (vec), which has 245760 bytes to give",
        "",
    ),
    "one ring for two pipes": (
        design(
            (IMPORT, *(INIT_C.replace("{dir", f"{{id = {i}, slot_num = 4, dir") for i in (0, 1)), *CUBE[2:]),
            (RESERVE, *(INIT_V.replace("{dir", f"{{id = {i}, slot_num = 4, dir") for i in (0, 1)), *VECTOR[2:]),
        ),
        13,
        "pipes 0 and 1 have one ring, 'c2v'",
        "reserve a buffer for each",
    ),
    "up-down of odd rows": (
        c2v(1, (15, 16), (7, 16), "a3"),
        5,
        "split = 1 needs an even number of rows; this tile has 15",
        "set split = 3 on both sides",
    ),
    "left-right of odd columns": (
        c2v(2, (16, 33), (16, 16), "a3"),
        5,
        "split = 2 needs an even number of columns; this tile has 33",
        "set split = 4 on both sides",
    ),
    "odd up-down of even rows": (
        c2v(3, (16, 16), (8, 16), "a3"),
        5,
        "split = 3 needs an odd number of rows; this tile has 16",
        "set split = 1 on both sides",
    ),
    "to the Cube there is no odd split": (
        v2c(1, (15, 16), (8, 16)),
        4,
        "split = 1 needs an even number of rows; this tile has 15",
        "pad the tile to 16 rows",
    ),
    "elements that A5 does not split": (
        c2v(1, (16, 16), (8, 16), element="f16"),
        6,
        "A5 splits tiles of 4-byte elements only, Cube to Vector; these have 2",
        "push a tile of f32 or i32, or set split = 0 on both sides",
    ),
    "columns that A5 does not split": (
        c2v(2, (16, 48), (16, 24)),
        6,
        "A5 splits left-right by whole 32 columns, Cube to Vector; this tile has 48",
        "pad it to 64 columns",
    ),
    "granule, left-right": (
        v2c(2, (16, 8), (16, 4)),
        11,
        "both lanes would write one block of 32 bytes and lose data: a lane's row has 16 bytes, no multiple of 32",
        "make a lane's tile 8 columns, the whole one 16",
    ),
    "granule, up-down": (
        v2c(1, (2, 4), (1, 4)),
        11,
        "both lanes would write one block of 32 bytes and lose data: a lane's part has 16 bytes, no multiple of 32",
        "make a lane's tile 2 rows, the whole one 4",
    ),
    "tile larger than a slot": (
        c2v(0, (64, 64), (64, 64)),
        6,
        "a tile of 64x64 has 16384 bytes, a slot of pipe 0 8192",
        "set slot_size = 16384 on both sides",
    ),
    "tile of both lanes larger than a slot": (
        v2c(1, (64, 64), (32, 64)),
        11,
        "a tile of 64x64 (both lanes together) has 16384 bytes, a slot of pipe 0 8192",
        "set slot_size = 16384 on both sides",
    ),
    "popped as another tile": (
        c2v(0, (16, 16), (16, 32)),
        12,
        "tile 0 is pushed as 16x16 of 4 bytes, but popped as 16x32 of 4 bytes",
        "",
    ),
    "parts of another tile": (
        c2v(1, (32, 16), (8, 16)),
        12,
        "tile 0 is pushed as 32x16 of 4 bytes, but popped as 16x16 of 4 bytes (both lanes together)",
        "",
    ),
    "popped with another split": (
        c2v(1, (32, 16), (16, 16), "a3").replace("tpop_from_aic {split = 1}", "tpop_from_aic {split = 2}"),
        10,
        "tile 0 is pushed with split = 1, but popped with split = 2",
        "set split = 1",
    ),
    "a layout that nobody changes": (
        a5([("row_major>", "col_major>")], [], "", (CUBE_V2C, VECTOR_V2C)),
        5,
        "this tile is popped as blayout=col_major, slayout=col_major, but pushed as blayout=col_major, "
        "slayout=row_major; nothing lays it out anew on the way",
        "pto.tmov it into a tile of blayout=col_major, slayout=col_major before the push",
    ),
    "lane 1 left out on A2A3": (
        design(CUBE_GM, (GM_V, *LANE, "scf.if %first {", POP_V, FREE_V, "}"), "a3", WORKSPACE),
        14,
        "lane 1 does not run this, but the Cube's flags of A2A3 are both lanes'",
        "take it out of the branch on pto.get_subblock_idx",
    ),
    "whole tiles on lane 1": (
        design(CUBE, (RESERVE, INIT_V, *LANE, "scf.if %first {", "} else {", POP_V, FREE_V, "}")),
        17,
        "lane 0 does not run this, but whole tiles are lane 0's",
        "take it out of the branch on pto.get_subblock_idx",
    ),
    "never freed": (
        design((*CUBE, PUSH_C), (*VECTOR, NEXT)),
        17,
        "this tile is never freed: 'vector' pops 2 and frees 1",
        "write pto.tfree_from_aic {split = 0} behind its last use",
    ),
    "nothing to free": (
        design(CUBE, (*VECTOR, FREE_V)),
        16,
        "there is nothing to free: no tile of pipe 0 Cube to Vector is held here",
        "leave it out",
    ),
    "freed with another split": (
        c2v(1, (16, 16), (8, 16)).replace("tfree_from_aic {split = 1}", "tfree_from_aic {split = 2}"),
        13,
        "split = 2 here, but the tile was popped with split = 1",
        "set split = 1",
    ),
    "not in pop order": (
        design(
            (*CUBE, PUSH_C),
            (*VECTOR[:3], POP_V, NEXT, f"pto.tfree_from_aic(%r : {VEC}) {{split = 0}}", FREE_V),
        ),
        16,
        "a free releases the oldest tile that is held, which is not the one it names",
        "free tiles in the order they were popped in",
    ),
    "used behind its free": (
        design(CUBE, (*VECTOR[:4], FREE_V, USE_V)),
        15,
        "this reads a tile whose slot was freed before: it may hold the next tile by now",
        "free it behind this op",
    ),
    "pushed on behind its free": (
        design(
            (IMPORT, CUBE_V2C[0], BOTH_C, TILE_A, PUSH_C, POP_C, FREE_C),
            (
                RESERVE,
                VECTOR_V2C[0],
                BOTH_V,
                POP_V.replace(VEC, NZ),
                FREE_V,
                f"pto.tpush_to_aic(%p : {NZ}) {{split = 0}}",
            ),
        ),
        18,
        "this reads a tile whose slot was freed before: it may hold the next tile by now",
        "free it behind this op",
    ),
    "freed too seldom in a loop": (
        design(
            (*CUBE[:3], *BOUNDS, FOR, PUSH_C, PUSH_C, "}"), (*VECTOR[:3], *BOUNDS, FOR, POP_V, NEXT, FREE_V, "}"), "", N
        ),
        20,
        "every iteration pops 1 tile more than it frees, and how many there are (argument 0) only the run knows",
        "free as many tiles in the loop as are popped in it",
    ),
    "freed on one way only": (
        design(CUBE, (*VECTOR[:4], "scf.if %t {", FREE_V, "}"), "", ("%t: i1", "%t: i1")),
        14,
        "0 tiles of pipe 0 held if argument 0, else 1",
        "pop and free as many tiles on both ways",
    ),
    "in a loop that cannot be counted": (
        design(
            (*CUBE[:3], *WHILE, PUSH_C, "scf.yield", "}"),
            VECTOR,
        ),
        10,
        "'pto.tpush_to_aiv' stands in 'scf.while', where nobody can say how often it runs",
        "write the loop as scf.for, the branch as scf.if",
    ),
    "kinds of tiles that depend on the run": (
        design(
            (*CUBE_GM[:2], f"%b = pto.alloc_tile : {SMALL}", *BOUNDS, FOR, PUSH_C, PUSH_B, "}"),
            (GM_V, *BOUNDS, FOR, POP_V, FREE_V, "}", FOR, NEXT.replace(VEC, tile("vec", 8, 16)), FREE_V, "}"),
            "",
            (WS + ", %n: index",) * 2,
        ),
        10,
        "tiles of several kinds move Cube to Vector through pipe 0, and which is which depends on counts that only "
        "the run knows",
        "loop and branch alike on both sides, or use a pipe for each kind",
    ),
    "a workspace that starts oddly": (
        design(
            ("%w = arith.constant 40 : i64", GM_C.replace("%ws : !pto.ptr<f32>", "%w : i64"), *CUBE_GM[1:]),
            ("%w = arith.constant 40 : i64", GM_V.replace("%ws : !pto.ptr<f32>", "%w : i64"), *VECTOR_GM[1:]),
        ),
        4,
        "pipe 0 starts at byte 40 of its workspace, no multiple of 32",
        "start it at byte 64",
    ),
    "clusters that are too close": (
        design(
            (*BLOCKS, *changed(CUBE_GM, ("%ws", "%w"))), (*BLOCKS, *changed(VECTOR_GM, ("%ws", "%w"))), "", WORKSPACE
        ),
        8,
        "the next cluster's pipe 0 starts 4096 bytes behind this one's, but a cluster takes 8192",
        "step by 8192 bytes per pto.get_block_idx",
    ),
    "workspaces that start differently": (
        design(
            CUBE_GM,
            (
                "%k = arith.constant 8 : index",
                "%w = pto.addptr %ws, %k : !pto.ptr<f32> -> !pto.ptr<f32>",
                GM_V.replace("%ws", "%w"),
                *VECTOR_GM[1:],
            ),
            "",
            WORKSPACE,
        ),
        11,
        "the sides of pipe 0 start at different bytes: 32 here, 0 in 'cube'",
        "start both at 0",
    ),
    "workspaces that are different": (
        design(CUBE_GM, changed(VECTOR_GM, ("%ws", "%x")), "", (WS + ", %x: !pto.ptr<f32>",) * 2),
        9,
        "the sides of pipe 0 have different workspaces: argument 1 here, argument 0 in 'cube'",
        "",
    ),
}


@pytest.mark.parametrize("name", ONE)
def test_one_problem_one_message(name: str) -> None:
    text, line, said, todo = ONE[name]
    found = verified(text)
    assert [d.text for d in found] == [said]
    (diagnostic,) = found
    assert diagnostic.is_error and diagnostic.code == "E1201"
    assert diagnostic.where is not None and diagnostic.where.line == line
    assert diagnostic.todo == todo


# What both sides say wrong is told on both.
TWICE = {
    "dir_mask": (
        both(("dir_mask = 1", "dir_mask = 4")),
        "dir_mask = 4 is no direction: 1 is Cube to Vector, 2 Vector to Cube, 3 both",
        "",
    ),
    "slot_size 0": (
        both(("slot_size = 1024", "slot_size = 0")),
        "slot_size = 0: a slot holds at least one tile, counted in bytes",
        "",
    ),
    "slot_size": (
        both(("slot_size = 1024", "slot_size = 1040")),
        "slot_size = 1040 is no multiple of 32, so slots do not start aligned",
        "set slot_size = 1056 on both sides",
    ),
    "slot_num": (both(("{dir", "{slot_num = 0, dir")), "slot_num = 0: a ring has at least one slot", ""),
    "id": (
        both(("{dir", "{id = -1, dir"), ("{split", "{id = -1, split")),
        "a pipe's id is at least 0, not -1",
        "",
    ),
    "local_slot_num on A5": (
        both(("{dir", "{local_slot_num = 2, dir")),
        "local_slot_num is of A2A3 only: on A5 a popped tile is the slot itself",
        "leave local_slot_num out",
    ),
    "local_slot_num": (
        both(("{dir", "{local_slot_num = 9, dir"), base=(CUBE_GM, VECTOR_GM), args=WORKSPACE),
        "local_slot_num = 9 is not within 1 and slot_num = 8",
        "set local_slot_num = 8 or less",
    ),
    "no workspace": (
        design(CUBE, VECTOR, "a3"),
        "A2A3 has its rings in global memory: pipe 0 needs 8192 bytes there",
        "write gm_slot_buffer = %workspace : !pto.ptr<..>",
    ),
}


@pytest.mark.parametrize("name", TWICE)
def test_what_both_sides_say_wrong(name: str) -> None:
    text, said, todo = TWICE[name]
    found = verified(text)
    assert [(d.text, d.todo) for d in found] == [(said, todo)] * 2
    lines = [d.where.line for d in found if d.where is not None]
    assert lines[0] < 8 <= lines[1]


def test_a_workspace_is_not_for_a5() -> None:
    text = "A5 has its rings in the consumer's memory: there is nothing for gm_slot_buffer to say"
    assert [d.text for d in verified(gm([], [], "a5"))].count(text) == 2


def test_both_kinds_of_error_name_the_other_place() -> None:
    """A note at the other side, at the pop, at the first use: whatever is needed to see the problem."""
    (found,) = verified(ONE["slot_size"][0])
    assert [(note.text, note.where and note.where.line) for note in found.notes] == [("the other side is here", 3)]
    (found,) = verified(ONE["used behind its free"][0])
    assert [(note.text, note.where and note.where.line) for note in found.notes] == [
        ("it was popped here", 13),
        ("and freed here", 14),
    ]


# ------------------------------------------------------------------------------------------- other global memory

VIEW = (
    "%c16 = arith.constant 16 : index",
    "%k0 = arith.constant 0 : index",
    "%tv = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c16] : !pto.tensor_view<?x?xf32>",
    "%pv = pto.partition_view %tv, offsets = [%k0, %k0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> "
    "-> !pto.partition_tensor_view<16x16xf32>",
)
STORE = f"pto.tstore ins(%a : {ACC}) outs(%pv : !pto.partition_tensor_view<16x16xf32>)"
LOAD = f"pto.tload ins(%pv : !pto.partition_tensor_view<16x16xf32>) outs(%o : {VEC})"
TENSOR = (WS + ", %x: !pto.ptr<f32>",) * 2


@pytest.mark.parametrize(
    ("cube", "vector", "told"),
    [
        ((STORE, PUSH_C), (POP_V, LOAD, FREE_V), False),
        ((PUSH_C, STORE), (POP_V, LOAD, FREE_V), True),
        ((STORE, PUSH_C), (LOAD, POP_V, FREE_V), True),
    ],
)
def test_a_tensor_that_both_touch_is_ordered_by_a_tile(
    cube: tuple[str, ...], vector: tuple[str, ...], told: bool
) -> None:
    found = verified(design((GM_C, TILE_A, *VIEW, *cube), (GM_V, TILE_O, *VIEW, *vector), "", TENSOR))
    assert [(d.code, d.is_error) for d in found] == [("W1201", False)] * told
    if told:
        assert found[0].text == "'cube' writes this tensor (argument 1), and nothing says that it has done so by now"
        assert found[0].todo == "push a tile Cube to Vector behind the store, and pop it before this load"
