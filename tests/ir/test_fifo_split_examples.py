"""Worked examples: whole designs as they stand after split, derived by hand from the rules."""

from __future__ import annotations

from passkit import Ran
from splitkit import accesses, design, short, split

from aiecc.ir.passes.fifo_split import ObjectFifoSplit
from aiecc.ir.passes.fifo_verify import ObjectFifoVerify

LOOPS = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
"""


def complete(ran: Ran) -> None:
    """Verify has nothing to say."""
    ObjectFifoVerify().apply(ran.device, ran.sink)
    assert ran.said == []


def test_sliding_window_over_dmas() -> None:
    tiles = "\n  %p = aie.tile(0, 2)\n  %q = aie.tile(2, 4)\n"
    body = f"""
  aie.objectfifo @s(%p, {{%q}}, 3 : i32) : !aie.objectfifo<memref<8xi16>>
  aie.core(%p) {{{LOOPS}
    scf.for %i = %c0 to %c10 step %c1 {{
      %o = aie.objectfifo.acquire @s (Produce, 1) : memref<8xi16>
      aie.objectfifo.release @s (Produce, 1)
    }}
    aie.end
  }}
  aie.core(%q) {{{LOOPS}
    scf.for %i = %c0 to %c9 step %c1 {{
      %x, %y = aie.objectfifo.acquire @s (Consume, 2) : memref<8xi16>, memref<8xi16>
      aie.objectfifo.release @s (Consume, 1)
    }}
    aie.objectfifo.release @s (Consume, 1)
    aie.end
  }}
"""
    ran = split(body, tiles=tiles)
    assert short(ran) == [
        "pool s_pool (0,2) 2 x memref<8xi16> s0=0+8",
        "core s_prod (0,2) fills s_pool",
        "dma s_prod_dma (0,2) drains s_pool",
        "pool s_cons_pool (2,4) 3 x memref<8xi16> s0=0+8",
        "core s_cons (2,4) drains s_cons_pool",
        "dma s_cons_dma (2,4) fills s_cons_pool",
        "route s_prod_dma -> s_cons_dma",
    ]
    assert accesses(ran) == ["+1 s_prod", "-1 s_prod", "+2 s_cons", "-1 s_cons", "-1 s_cons"]
    complete(ran)


def test_binary_locks() -> None:
    tiles = "\n  %p = aie.tile(1, 2)\n  %q = aie.tile(3, 3)\n"
    body = "  aie.objectfifo @of(%p, {%q}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
    for tile, port in (("p", "Produce"), ("q", "Consume")):
        turn = f"aie.objectfifo.acquire @of ({port}, 1) : memref<16xi32>\n aie.objectfifo.release @of ({port}, 1)\n"
        body += f"  aie.core(%{tile}) {{\n %a = {turn} %b = {turn} aie.end\n  }}\n"
    ran = split(body, "xcvc1902", tiles=tiles)
    assert short(ran) == [
        "pool of_pool (1,2) 2 x memref<16xi32> s0=0+16",
        "core of_prod (1,2) fills of_pool",
        "dma of_prod_dma (1,2) drains of_pool",
        "pool of_cons_pool (3,3) 2 x memref<16xi32> s0=0+16",
        "core of_cons (3,3) drains of_cons_pool",
        "dma of_cons_dma (3,3) fills of_cons_pool",
        "route of_prod_dma -> of_cons_dma",
    ]
    complete(ran)


def test_constant_weights() -> None:
    body = "aie.objectfifo @w(%m0, {%c02}, 1 : i32) {repeat_count = 7 : i32} : !aie.objectfifo<memref<4xi32>> = "
    ran = split(body + "[dense<5> : memref<4xi32>]")
    assert short(ran) == [
        "pool w_pool (0,1) 1 x memref<4xi32> s0=0+4 repeatCount=7 initValues=[dense<5>:memref<4xi32>]",
        "dma w_prod_dma (0,1) drains w_pool",
        "pool w_cons_pool (0,2) 1 x memref<4xi32> s0=0+4",
        "dma w_cons_dma (0,2) fills w_cons_pool",
        "route w_prod_dma -> w_cons_dma",
    ]


def test_broadcast_to_cores_that_need_different_depths() -> None:
    get = "%o = aie.objectfifo.acquire @m (Consume, {}) : {}\n aie.objectfifo.release @m (Consume, {})\n aie.end"
    body = "aie.objectfifo @m(%m0, {%c02, %c03}, DEPTH) : !aie.objectfifo<memref<8xi32>>\n"
    one = f"aie.core(%c02) {{ {get.format(1, 'memref<8xi32>', 1)} }}\n"
    two = f"aie.core(%c03) {{ {get.format(2, 'memref<8xi32>, memref<8xi32>', 2)} }}\n".replace("%o =", "%o, %p =")
    for depth, pools in (("3 : i32", (3, 2, 3)), ("[3, 1, 4]", (3, 1, 4))):
        assert short(split(body.replace("DEPTH", depth) + one + two)) == [
            f"pool m_pool (0,1) {pools[0]} x memref<8xi32> s0=0+8",
            "dma m_prod_dma (0,1) drains m_pool",
            f"pool m_0_cons_pool (0,2) {pools[1]} x memref<8xi32> s0=0+8",
            "core m_0_cons (0,2) drains m_0_cons_pool",
            "dma m_0_cons_dma (0,2) fills m_0_cons_pool",
            f"pool m_1_cons_pool (0,3) {pools[2]} x memref<8xi32> s0=0+8",
            "core m_1_cons (0,3) drains m_1_cons_pool",
            "dma m_1_cons_dma (0,3) fills m_1_cons_pool",
            "route m_prod_dma -> m_0_cons_dma,m_1_cons_dma",
        ]


def test_external_buffers() -> None:
    tiles = "\n  %s = aie.tile(2, 0)\n  %t = aie.tile(2, 2)\n"
    body = """
  %x = aie.external_buffer {sym_name = "x"} : memref<64xi32>
  aie.objectfifo @e(%s, {%t}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo.register_external_buffers @e (%s, {%x}) : (memref<64xi32>)
  aie.core(%t) {
    %o = aie.objectfifo.acquire @e (Consume, 1) : memref<16xi32>
    aie.objectfifo.release @e (Consume, 1)
    aie.end
  }
"""
    ran = split(body, "xcve2302", tiles=tiles)
    assert short(ran) == [
        "pool e_pool (2,0) 1 x memref<64xi32> s0=0+64 buffers=[@x]",
        "dma e_prod_dma (2,0) drains e_pool",
        "pool e_cons_pool (2,2) 2 x memref<16xi32> s0=0+16",
        "core e_cons (2,2) drains e_cons_pool",
        "dma e_cons_dma (2,2) fills e_cons_pool",
        "route e_prod_dma -> e_cons_dma",
    ]
    complete(ran)


def test_a_large_pool_behind_a_link() -> None:
    body = """
  aie.objectfifo @big(%s1, {%m1}, 3 : i32) : !aie.objectfifo<memref<300000xi8>>
  aie.objectfifo @out(%m1, {%c12}, 1 : i32) : !aie.objectfifo<memref<1000xi8>>
  aie.objectfifo.link [@big] -> [@out] ([] [])
"""
    assert short(split(body))[0] == "pool big_cons_pool (1,1) 3 x memref<300000xi8> s0=0+300000"


def test_fifos_come_out_the_same_in_any_order() -> None:
    """What is made for each fifo does not depend on the others, or on where they stand."""
    fifos = [
        "aie.objectfifo @a(%s0, {%m0}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n",
        "aie.objectfifo @b(%m0, {%c02, %c33}, 2 : i32) : !aie.objectfifo<memref<8xi32>>\n",
        "aie.objectfifo @c(%m0, {%c03}, 2 : i32) : !aie.objectfifo<memref<8xi32>>\n",
        "aie.objectfifo @d(%c02, {%c03}, 4 : i32) : !aie.objectfifo<memref<8xi32>>\n",
    ]
    link = "aie.objectfifo.link [@a] -> [@b, @c] ([] [0, 8])\n"
    expected = sorted(short(split("".join(fifos) + link)))
    for turn in range(len(fifos)):
        moved = fifos[turn:] + fifos[:turn]
        ran = Ran(design(link + "".join(reversed(moved))), ObjectFifoSplit())
        assert sorted(short(ran)) == expected
