"""Designs that move real data through pipes, and clusters built for this machine without the rest of a build."""

from array import array
from functools import cache, cached_property
from pathlib import Path

from aiecc.api import Module, Sink, Toolchain, load, native_library
from aiecc.engine.store import Store
from aiecc.plugins.tpush.build import clusters_in, rooms_of
from aiecc.plugins.tpush.emit import emit
from aiecc.plugins.tpush.kernels import Pair
from aiecc.plugins.tpush.model import Agent, Cluster
from aiecc.plugins.tpush.native import native_code
from aiecc.plugins.tpush.protocol import FreeRule
from aiecc.plugins.tpush.run import Outcome, run_cluster
from aiecc.plugins.tpush.runtime import FOLDER, THREAD_SOURCES
from aiecc.tools.find import resolve
from aiecc.tools.load import available, folders
from aiecc.tools.load import load as toolchain
from aiecc.tools.run import Runner
from aiecc.tools.workshop import Workshop


@cache
def tools() -> Toolchain:
    return resolve(toolchain("llvm", available(folders())))


class Built:
    """A cluster as a library of this machine. Buffers lie one behind the other from address 0x400 on."""

    def __init__(
        self, text: str, folder: Path, rule: FreeRule = FreeRule.AFTER_USE, flags: tuple[str, ...] = ()
    ) -> None:
        self.pair: Pair
        self.cluster: Cluster
        self.pair, self.cluster = clusters_in(load(Module(text, file="a.mlir")), Sink())[0]
        self.names = self._addresses(rule)
        self.code = native_code(self.pair, self.cluster, self.names, rule)
        self.folder, self.flags = folder, flags

    @cached_property
    def library(self) -> Path:
        shop = Workshop(Runner(), Store(self.folder / "store"))
        sources = [FOLDER / name for name in THREAD_SOURCES]
        return native_library(self.code, sources, tools(), shop, flags=self.flags).path

    def _addresses(self, rule: FreeRule) -> dict[str, int]:
        found: dict[str, int] = {}
        ends = dict.fromkeys(Agent, 0x400)
        for room in rooms_of([emit(self.pair, self.cluster, agent, rule) for agent in self.cluster.agents]):
            found[room.name] = ends[room.owner] if room.base is None else room.base
            ends[room.owner] += -(-room.size // 64) * 64
        return found

    def run(self, *arrays: bytes, numbers: dict[int, float] | None = None, judge: bool = True) -> Outcome:
        given = {n: data for n, data in enumerate(arrays) if data}
        return run_cluster(self.library, self.pair, self.cluster, given, numbers, judge=judge, names=self.names)


def floats(data: bytes | bytearray) -> list[float]:
    return list(array("f", bytes(data)))


def tile(space: str, rows: int, cols: int, element: str = "f32") -> str:
    return f"!pto.tile_buf<{space}, {rows}x{cols}x{element}>"


class Text:
    """A pair of kernels that move `tiles` tiles of rows x cols elements. Arguments: in, out, workspace."""

    def __init__(
        self,
        arch: str,
        mask: int,
        tiles: int,
        rows: int,
        cols: int,
        split: int = 0,
        slots: int = 0,
        element: str = "f32",
    ) -> None:
        self.arch, self.mask, self.tiles, self.split, self.element = arch, mask, tiles, split, element
        self.rows, self.cols = rows, cols
        self.part_rows = rows // 2 if split == 1 else rows
        self.part_cols = cols // 2 if split == 2 else cols
        self.size = rows * cols * (1 if element == "i8" else 4)
        self.slots = slots or (4 if mask == 3 else 8)

    def setup(self, kind: str) -> list[str]:
        sets = {"cube": "aic", "vector": "aiv"}[kind]
        keys = f"{{dir_mask = {self.mask}, slot_size = {self.size}, slot_num = {self.slots}}}"
        if self.arch != "a5":
            return [f"pto.{sets}_initialize_pipe {keys} (gm_slot_buffer = %ws : !pto.ptr<{self.element}>)"]
        lines: list[str] = []
        buffers: list[str] = []
        for bit, name, consumer, space in ((1, "c2v", "vector", "vec"), (2, "v2c", "cube", "mat")):
            if self.mask & bit:
                other = "vector" if kind == "cube" else "cube"
                room = f"size = {self.slots * self.size}, location = #pto.address_space<{space}>, auto = true"
                lines.append(
                    f'%{name} = pto.reserve_buffer {{name = "{name}", {room}}} -> i32'
                    if kind == consumer
                    else f'%{name} = pto.import_reserved_buffer {{name = "{name}", peer_func = @{other}}} -> i32'
                )
                buffers.append(f"{name}_consumer_buf = %{name} : i32")
        return [*lines, f"pto.{sets}_initialize_pipe {keys} ({', '.join(buffers)})"]

    def view(self, pointer: str, name: str, rows: int, cols: int, of_lane: bool) -> list[str]:
        """The part of tile %i that a core has, in a tensor of whole tiles one below the other."""
        e = self.element
        down = "%lane_rows" if of_lane else "%c0"
        right = "%lane_cols" if of_lane else "%c0"
        sizes = f"[%c{rows}, %c{cols}]"
        return [
            f"%{name}_row = arith.addi %first, {down} : index",
            f"%{name} = pto.partition_view %{pointer}_all, offsets = [%{name}_row, {right}], sizes = {sizes} : "
            f"!pto.tensor_view<?x?x{e}> -> !pto.partition_tensor_view<{rows}x{cols}x{e}>",
        ]

    def load(self, to: str, type: str, rows: int, cols: int, of_lane: bool) -> list[str]:
        part = f"!pto.partition_tensor_view<{rows}x{cols}x{self.element}>"
        return [*self.view("in", "from", rows, cols, of_lane), f"pto.tload ins(%from : {part}) outs(%{to} : {type})"]

    def store(self, source: str, type: str, rows: int, cols: int, of_lane: bool) -> list[str]:
        part = f"!pto.partition_tensor_view<{rows}x{cols}x{self.element}>"
        return [*self.view("out", "to", rows, cols, of_lane), f"pto.tstore ins(%{source} : {type}) outs(%to : {part})"]

    def kernel(self, kind: str, allocs: list[str], body: list[str]) -> list[str]:
        e = self.element
        numbers = sorted(
            {0, 1, self.tiles, self.rows, self.cols, self.part_rows, self.part_cols, self.tiles * self.rows}
        )
        head = [f"%c{n} = arith.constant {n} : index" for n in numbers]
        lanes = [
            "%lane_number = pto.get_subblock_idx",
            "%lane = arith.index_cast %lane_number : i64 to index",
            f"%lane_rows = arith.muli %lane, %c{self.part_rows if self.split == 1 else 0} : index",
            f"%lane_cols = arith.muli %lane, %c{self.part_cols if self.split == 2 else 0} : index",
        ]
        views = [
            f"%{name}_all = pto.make_tensor_view %{name}, shape = [%c{self.tiles * self.rows}, %c{self.cols}], "
            f"strides = [%c{self.cols}, %c1] : !pto.tensor_view<?x?x{e}>"
            for name in ("in", "out")
        ]
        args = ", ".join(f"%{name}: !pto.ptr<{e}>" for name in ("in", "out", "ws"))
        loop = [
            f"scf.for %i = %c0 to %c{self.tiles} step %c1 {{",
            f"%first = arith.muli %i, %c{self.rows} : index",
            *body,
            "}",
        ]
        lines = [*head, *(lanes if kind == "vector" else []), *self.setup(kind), *allocs, *views, *loop, "return"]
        attributes = f"{{pto.kernel_kind = #pto.kernel_kind<{kind}>, stack_size = 1024 : i32}}"
        return [f"func.func @{kind}({args}) attributes {attributes} {{", *lines, "}"]

    def text(self, cube: tuple[list[str], list[str]], vector: tuple[list[str], list[str]]) -> str:
        lines = [f'module attributes {{pto.target_arch = "{self.arch}"}} {{']
        lines += [*self.kernel("cube", *cube), *self.kernel("vector", *vector), "}"]
        return "\n".join(lines) + "\n"

    # --- programs -----------------------------------------------------------------------------------------------------

    def c2v(self) -> str:
        """out = 2 * in, doubled on the Vector side."""
        acc = tile("acc", self.rows, self.cols, self.element)
        vec = tile("vec", self.part_rows, self.part_cols, self.element)
        split = f"{{split = {self.split}}}"
        cube = [*self.load("a", acc, self.rows, self.cols, False), f"pto.tpush_to_aiv(%a : {acc}) {split}"]
        vector = [
            f"%p = pto.tpop_from_aic {split} -> {vec}",
            f"pto.tadd ins(%p, %p : {vec}, {vec}) outs(%r : {vec})",
            *self.store("r", vec, self.part_rows, self.part_cols, True),
        ]
        return self.text(([f"%a = pto.alloc_tile : {acc}"], cube), ([f"%r = pto.alloc_tile : {vec}"], vector))

    def v2c(self) -> str:
        """out = 2 * in, doubled on the Vector side."""
        vec = tile("vec", self.part_rows, self.part_cols, self.element)
        mat = tile("mat", self.rows, self.cols, self.element)
        split = f"{{split = {self.split}}}"
        vector = [
            *self.load("v", vec, self.part_rows, self.part_cols, True),
            f"pto.tadd ins(%v, %v : {vec}, {vec}) outs(%v : {vec})",
            f"pto.tpush_to_aic(%v : {vec}) {split}",
        ]
        cube = [f"%q = pto.tpop_from_aiv {split} -> {mat}", *self.store("q", mat, self.rows, self.cols, False)]
        return self.text(([], cube), ([f"%v = pto.alloc_tile : {vec}"], vector))

    def both(self) -> str:
        """out = 2 * in: there, doubled, and back."""
        acc, mat = (tile(space, self.rows, self.cols, self.element) for space in ("acc", "mat"))
        vec = tile("vec", self.part_rows, self.part_cols, self.element)
        split = f"{{split = {self.split}}}"
        cube = [
            *self.load("a", acc, self.rows, self.cols, False),
            f"pto.tpush_to_aiv(%a : {acc}) {split}",
            f"%q = pto.tpop_from_aiv {split} -> {mat}",
            *self.store("q", mat, self.rows, self.cols, False),
        ]
        vector = [
            f"%p = pto.tpop_from_aic {split} -> {vec}",
            f"pto.tadd ins(%p, %p : {vec}, {vec}) outs(%r : {vec})",
            f"pto.tpush_to_aic(%r : {vec}) {split}",
        ]
        return self.text(([f"%a = pto.alloc_tile : {acc}"], cube), ([f"%r = pto.alloc_tile : {vec}"], vector))

    def sums(self, window: int) -> str:
        """The sum of all tiles, added up on the Vector side; tile i is number i modulo `window` of the input."""
        acc = tile("acc", self.rows, self.cols, self.element)
        vec = tile("vec", self.part_rows, self.part_cols, self.element)
        split = f"{{split = {self.split}}}"
        cube = [
            f"%window = arith.constant {window} : index",
            "%turn = arith.remui %i, %window : index",
            f"%at = arith.muli %turn, %c{self.rows} : index",
            *(line.replace("%first", "%at") for line in self.load("a", acc, self.rows, self.cols, False)),
            f"pto.tpush_to_aiv(%a : {acc}) {split}",
        ]
        vector = [
            f"%p = pto.tpop_from_aic {split} -> {vec}",
            f"pto.tadd ins(%r, %p : {vec}, {vec}) outs(%r : {vec})",
            *(line.replace("%first", "%c0") for line in self.store("r", vec, self.part_rows, self.part_cols, True)),
        ]
        zero = "%zero = arith.constant 0 : i32" if self.element == "i32" else "%zero = arith.constant 0.0 : f32"
        clear = f"pto.tmuls ins(%r, %zero : {vec}, {self.element}) outs(%r : {vec})"
        return self.text(
            ([f"%a = pto.alloc_tile : {acc}"], cube), ([f"%r = pto.alloc_tile : {vec}", zero, clear], vector)
        )
