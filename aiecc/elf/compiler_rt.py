"""Frames of functions that toolchains ship without `.stack_sizes`, bytes.

Peano builds its compiler-rt builtins without `-fstack-size-section`, and older start-up code lacks it too. The values
are those of the prologues in the installed Peano, as mlir-aie tabulates them. They count a function's own frame
only: its calls are followed like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from aiecc.elf.read import EM_AIE, Image

AIE2, AIE2P = 2, 3

# (aie2, aie2p): names, a line for each pair of values.
_SAVING = {
    (32, 64): """
        __absvdi2 __absvsi2 __adddf3 __addsf3 __addvdi3 __addvsi3 __clear_cache __divdi3 __divmoddi4 __divmodsi4
        __floatdidf __floatundidf __moddi3 __mulosi4 __mulvsi3 __negvdi2 __negvsi2 __subvdi3 __subvsi3 __udivmodsi4
        """,
    (64, 64): "__divsf3 __muldf3 __mulodi4 __mulsf3 __mulvdi3 __powidf2 __powisf2",
    (96, 128): "__divdf3",
    (0, 0): """
        __ashldi3 __ashrdi3 __clzdi2 __clzsi2 __cmpdf2 __cmpdi2 __cmpsf2 __compilerrt_abort_impl __ctzsi2 __divsi3
        __eqdf2 __eqsf2 __extendbfsf2 __extendhfdf2 __extendhfsf2 __extendsfdf2 __fe_getround __fe_raise_inexact
        __fixdfsi __fixsfsi __fixunsdfsi __fixunssfsi __floatdisf __floatsidf __floatsisf __floatundisf
        __floatunsidf __floatunsisf __gedf2 __gesf2 __gnu_f2h_ieee __gnu_h2f_ieee __gtdf2 __gtsf2 __ledf2 __lesf2
        __lshrdi3 __ltdf2 __ltsf2 __modsi3 __muldi3 __nedf2 __negdf2 __negdi2 __negsf2 __nesf2 __paritydi2
        __paritysi2 __popcountdi2 __popcountsi2 __subdf3 __subsf3 __truncdfbf2 __truncdfhf2 __truncdfsf2
        __truncsfbf2 __truncsfhf2 __ucmpdi2 __udivdi3 __udivsi3 __umoddi3 __umodsi3 __unorddf2 __unordsf2
        """,
}

# Only in aie2's library; and crt1.o of older releases (aie2p's has always had the section).
_AIE2_ONLY = {"__umodti3": 32, "__udivti3": 0, "_main_init": 32}


@cache
def _table(flags: int) -> Mapping[str, int]:
    if flags not in (AIE2, AIE2P):
        return {}
    column = 0 if flags == AIE2 else 1
    frames = {name: values[column] for values, names in _SAVING.items() for name in names.split()}
    return frames | _AIE2_ONLY if flags == AIE2 else frames


def frames(image: Image) -> Mapping[str, int]:
    """The frames to fall back on for this image, by function name. Keyed by the whole of `e_flags`; empty off AIE."""
    return _table(image.flags) if image.machine == EM_AIE else {}
