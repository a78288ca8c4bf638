"""Vector transfers as loads and stores. What they move is checked by running them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import mlirtools
import pytest
from passkit import Ran

from aiecc.base.diag import Sink
from aiecc.ir.outline import CORE_NAME, outline
from aiecc.ir.passes.vector_transfers import MOST_ELEMENTS, LowerVectorTransfers
from aiecc.ir.text import parse
from aiecc.model.ids import CoreId

PAD = ord("-")
FIRST = ord("A")


@dataclass(frozen=True)
class Case:
    """A transfer of `vector` elements between a memref and a vector, from `start`; `dims` None repeats an element.

    bounded: which vector dimensions the author says stay inside. mask: its bits, in the order of the mask's elements.
    """

    memory: tuple[int, ...]
    vector: tuple[int, ...]
    start: tuple[int, ...]
    dims: tuple[int | None, ...]
    bounded: tuple[bool, ...]
    mask: tuple[int, ...] = ()

    @property
    def mask_shape(self) -> list[int]:
        return [n for _, n in sorted((d, n) for d, n in zip(self.dims, self.vector, strict=True) if d is not None)]

    def places(self) -> list[tuple[int, ...] | None]:
        """Where each element of the vector lies in memory; None where it does not, or is masked."""
        found: list[tuple[int, ...] | None] = []
        for position in itertools.product(*map(range, self.vector)):
            at = list(self.start)
            for dim, by in zip(self.dims, position, strict=True):
                if dim is not None:
                    at[dim] += by
            inside = all(i < n for i, n in zip(at, self.memory, strict=True))
            found.append(tuple(at) if inside and self._on(position) else None)
        return found

    def _on(self, position: Sequence[int]) -> bool:
        if not self.mask:
            return True
        order = [by for _, by in sorted((d, by) for d, by in zip(self.dims, position, strict=True) if d is not None)]
        return bool(self.mask[flat(order, self.mask_shape)])

    # --- as MLIR ------------------------------------------------------------------------------------------------------

    @property
    def attributes(self) -> str:
        names = [f"d{i}" for i in range(len(self.memory))]
        results = ", ".join("0" if d is None else names[d] for d in self.dims)
        bounds = ", ".join("true" if b else "false" for b in self.bounded)
        return f"{{in_bounds = [{bounds}], permutation_map = affine_map<({', '.join(names)}) -> ({results})>}}"

    @property
    def indices(self) -> str:
        return ", ".join(f"%s{i}" for i in range(len(self.start)))

    @property
    def lead(self) -> str:
        """Start indices that are not constants, so that nothing is known of them; the mask."""
        lines = [f"    %k{i} = memref.load %zero[%c0] : memref<1xindex>" for i in range(len(self.start))]
        lines += [f"    %o{i} = arith.constant {n} : index" for i, n in enumerate(self.start)]
        lines += [f"    %s{i} = arith.addi %k{i}, %o{i} : index" for i in range(len(self.start))]
        if self.mask:
            bits = nested([("false", "true")[b] for b in self.mask], self.mask_shape)
            lines.append(f"    %m = arith.constant dense<{bits}> : {shaped('vector', self.mask_shape, 'i1')}")
        return "\n".join(lines)

    @property
    def with_mask(self) -> str:
        return ", %m" if self.mask else ""


def flat(at: Sequence[int], shape: Sequence[int]) -> int:
    place = 0
    for i, n in zip(at, shape, strict=True):
        place = place * n + i
    return place


def shaped(what: str, shape: Sequence[int], element: str = "i32") -> str:
    return f"{what}<{''.join(f'{n}x' for n in shape)}{element}>"


def nested(values: Sequence[object], shape: Sequence[int]) -> str:
    if not shape:
        return str(values[0])
    step = math.prod(shape[1:])
    return "[" + ", ".join(nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"


def printed(body: str, buffers: str) -> list[int]:
    """The bytes a core's calls of `putchar` print, run on this machine."""
    text = f"""
aie.device(npu2) {{
  %t = aie.tile(0, 2)
{buffers}
  %zero = aie.buffer(%t) {{sym_name = "zero"}} : memref<1xindex> = dense<0>
  func.func private @putchar(i32) -> i32
  %core = aie.core(%t) {{
    %c0 = arith.constant 0 : index
{body}
    aie.end
  }}
}}"""
    sink = Sink()
    program = outline(parse(text, "t.mlir"), CoreId("main", 0, 2), sink=sink, triple="")
    assert program is not None, [d.text for d in sink.items]
    ir = mlirtools.to_llvm(program.text).replace('target triple = ""', "")
    done = mlirtools.outcome("llvm", "lli", f"--entry-function={CORE_NAME}", "-", text=ir)
    return [ord(c) for c in done.stdout]


CASES = {
    "one row": Case((8,), (4,), (2,), (0,), (True,)),
    "a row of a matrix": Case((3, 8), (4,), (1, 2), (1,), (True,)),
    "rows of a matrix": Case((4, 6), (2, 3), (1, 2), (0, 1), (True, True)),
    "past the end of a row": Case((6,), (4,), (4,), (0,), (False,)),
    "past both ends": Case((4, 5), (3, 4), (2, 3), (0, 1), (False, False)),
    "rows past the end": Case((4, 5), (3, 4), (2, 1), (0, 1), (False, True)),
    "transposed": Case((4, 5), (3, 2), (1, 1), (1, 0), (True, True)),
    "transposed past the end": Case((4, 5), (4, 3), (2, 2), (1, 0), (False, False)),
    "a column": Case((4, 5), (3,), (1, 2), (0,), (True,)),
    "masked": Case((8,), (4,), (1,), (0,), (True,), (1, 0, 1, 1)),
    "masked past the end": Case((8,), (4,), (6,), (0,), (False,), (1, 1, 1, 0)),
    "masked and transposed": Case((3, 4), (2, 3), (0, 0), (1, 0), (True, True), (1, 0, 0, 1, 1, 0)),
}
READS = CASES | {"repeated": Case((4,), (2, 3), (1,), (None, 0), (True, True))}


@pytest.mark.tools
@pytest.mark.parametrize("name", READS)
def test_a_read_takes_what_the_definition_says(name: str):
    case = READS[name]
    values = [FIRST + i for i in range(math.prod(case.memory))]
    memory, vector = shaped("memref", case.memory), shaped("vector", case.vector)
    shows = "\n".join(
        f"    %e{i} = vector.extract %v[{', '.join(map(str, at))}] : i32 from {vector}\n"
        f"    %p{i} = func.call @putchar(%e{i}) : (i32) -> i32"
        for i, at in enumerate(itertools.product(*map(range, case.vector)))
    )
    got = printed(
        f"""{case.lead}
    %pad = arith.constant {PAD} : i32
    %v = vector.transfer_read %a[{case.indices}], %pad{case.with_mask} {case.attributes} : {memory}, {vector}
{shows}""",
        f'  %a = aie.buffer(%t) {{sym_name = "a"}} : {memory} = dense<{nested(values, case.memory)}>',
    )
    assert got == [PAD if at is None else values[flat(at, case.memory)] for at in case.places()]


@pytest.mark.tools
@pytest.mark.parametrize("name", CASES)
def test_a_write_puts_what_the_definition_says(name: str):
    case = CASES[name]
    moved = [FIRST + i for i in range(math.prod(case.vector))]
    memory, vector = shaped("memref", case.memory), shaped("vector", case.vector)
    shows = "\n".join(
        "".join(f"    %i{n}_{d} = arith.constant {i} : index\n" for d, i in enumerate(at))
        + f"    %e{n} = memref.load %a[{', '.join(f'%i{n}_{d}' for d in range(len(at)))}] : {memory}\n"
        + f"    %p{n} = func.call @putchar(%e{n}) : (i32) -> i32"
        for n, at in enumerate(itertools.product(*map(range, case.memory)))
    )
    got = printed(
        f"""{case.lead}
    %v = arith.constant dense<{nested(moved, case.vector)}> : {vector}
    vector.transfer_write %v, %a[{case.indices}]{case.with_mask} {case.attributes} : {vector}, {memory}
{shows}""",
        f'  %a = aie.buffer(%t) {{sym_name = "a"}} : {memory} = dense<{PAD}>',
    )
    expected = [PAD] * math.prod(case.memory)
    for value, at in zip(moved, case.places(), strict=True):
        if at is not None:
            expected[flat(at, case.memory)] = value
    assert got == expected


FUNCTION = """
func.func @f(%m: memref<{memory}>, %i: index) {{
  %c4 = arith.constant 4 : index
  %pad = arith.constant 0 : i32
  %v = vector.transfer_read %m[{index}], %pad {attributes} : memref<{memory}>, vector<{vector}>
  vector.transfer_write %v, %m[{index}] {attributes} : vector<{vector}>, memref<{memory}>
  return
}}"""


def lowered(memory: str, vector: str, index: str = "%i", attributes: str = "{in_bounds = [true]}") -> Ran:
    text = FUNCTION.format(memory=memory, vector=vector, index=index, attributes=attributes)
    return Ran(text, LowerVectorTransfers())


def test_a_contiguous_row_is_one_load_and_one_store():
    ran = lowered("64xi32", "16xi32")
    assert ran.lines("vector.") == [
        "%0 = vector.load %arg0[%arg1] : memref<64xi32>, vector<16xi32>",
        "vector.store %0, %arg0[%arg1] : memref<64xi32>, vector<16xi32>",
    ]
    assert not ran.said


def test_a_constant_start_that_fits_needs_no_promise():
    assert not lowered("8xi32", "4xi32", "%c4", "").lines("scf.if")
    assert lowered("7xi32", "4xi32", "%c4", "").lines("scf.if")


def test_steps_other_than_one_go_element_by_element():
    ran = lowered("8xi32, strided<[2]>", "2xi32")
    assert not ran.lines("vector.load") and len(ran.lines("memref.load")) == 2


def test_transfers_of_tensors_are_left_alone():
    text = """
func.func @f(%m: tensor<64xi32>, %i: index) -> vector<16xi32> {
  %pad = arith.constant 0 : i32
  %v = vector.transfer_read %m[%i], %pad {in_bounds = [true]} : tensor<64xi32>, vector<16xi32>
  return %v : vector<16xi32>
}"""
    assert len(Ran(text, LowerVectorTransfers()).lines("transfer_read")) == 1


def test_too_many_single_elements_are_refused():
    ran = lowered("100000xi32", f"{MOST_ELEMENTS + 1}xi32", attributes="")
    assert ran.said[0].startswith(f"'vector.transfer_read' op moves more than {MOST_ELEMENTS} elements one by one")
