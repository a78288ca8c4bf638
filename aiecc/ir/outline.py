"""Cut cores out of a device: each becomes an MLIR module of its own that `mlir-opt` can lower.

The design itself is not changed. Names that tell cores apart (the core's own, those of buffers) become canonical
ones, so that cores which do the same are the same text and are compiled once. `PIPELINE` is what `mlir-opt` is to do
with the result; `join` and `split` put many cores through one process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.memref import GlobalOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.upstream.rules import symbol_name
from aiecc.ir.facts import devices
from aiecc.ir.packed import check_initial, check_packed
from aiecc.ir.passes.address_spaces import normalize
from aiecc.ir.passes.core_lowering import CoreLowering, outer_uses
from aiecc.ir.passes.report import op_error
from aiecc.ir.passes.standard_lowering import get_global, global_of
from aiecc.ir.passes.vector_transfers import LowerVectorTransfers
from aiecc.ir.passes.wide_loops import widen_loops
from aiecc.ir.raw import RawOp
from aiecc.ir.text import parse, print_module
from aiecc.model.ids import CoreId
from aiecc.model.program import CoreProgram

PIPELINE = (
    "builtin.module("
    # Whatever makes control flow or vectors of lower rank comes first.
    "lower-affine,func.func(lower-vector-multi-reduction),convert-scf-to-cf,canonicalize,cse,"
    # Strided views become address arithmetic, which is affine again.
    "expand-strided-metadata,lower-affine,arith-expand{include-bf16=true},"
    # Intrinsics where LLVM has them, the C library for the rest.
    "convert-math-to-llvm,convert-math-to-libm,"
    # Kernels take plain pointers, and an index is a word.
    "finalize-memref-to-llvm{index-bitwidth=32},"
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=true index-bitwidth=32},"
    "convert-to-llvm{dynamic=true},convert-vector-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts,"
    "canonicalize,cse)"
)

MARKER = "// -----"
"""What stands between two modules, alone on its line."""

CORE_NAME = "__aiecc_core"
BUFFER_NAME = "__aiecc_buffer_"

# Dialects of vector code that only upstream's own code generator lowers.
_NO_CODE = frozenset({"aie", "aiex", "aievec", "aievec_aie1", "xllvm"})
_SYMBOL = re.compile(r"@([A-Za-z_.$][\w.$-]*)")


class Outliner:
    """Cuts cores out of one device. Errors go to `sink`, at the user's lines.

    triple: of the tool chain. rename: (prefix, replacement) pairs for intrinsics its back end does not know.
    data_layout: LLVM's, if the module is to carry it.
    """

    def __init__(
        self,
        device: DeviceOp,
        sink: Sink,
        *,
        triple: str,
        rename: Sequence[tuple[str, str]] = (),
        data_layout: str = "",
    ) -> None:
        self.device = device
        self.sink = sink
        self.rename = tuple(rename)
        self.header = _header(triple, data_layout)
        self.cores: dict[tuple[int, int], CoreOp] = {}
        self.symbols: dict[str, Operation] = {}
        for op in device.block.ops:
            if isinstance(op, CoreOp) and op.coord is not None:
                self.cores.setdefault(op.coord, op)
            elif op.name.partition(".")[0] not in _NO_CODE and (name := symbol_name(op)) is not None:
                self.symbols.setdefault(name, op)

    def outline(self, core: CoreId, *, with_locations: bool = False) -> CoreProgram | None:
        """One core's program; None when it cannot be cut out, which the sink then says.

        with_locations: with every op's place in the user's file, so that errors of `mlir-opt` name it. Such a text is
        for error messages only; it differs between equal programs.
        """
        op = self.cores[core.col, core.row]
        made = _Program(self, op, core)
        module = made.module()
        if module is None:
            return None
        return CoreProgram(print_module(module, debuginfo=with_locations) + "\n", made.names())


def outline(
    module: Operation,
    core: CoreId,
    *,
    sink: Sink,
    triple: str,
    rename: Sequence[tuple[str, str]] = (),
    data_layout: str = "",
    with_locations: bool = False,
) -> CoreProgram | None:
    """One core of a module. For several of one device, an `Outliner` looks things up only once."""
    device = next(d for d in devices(module) if d.symbol == core.device)
    outliner = Outliner(device, sink, triple=triple, rename=rename, data_layout=data_layout)
    return outliner.outline(core, with_locations=with_locations)


def join(programs: Iterable[CoreProgram]) -> str:
    """One input for `mlir-opt --split-input-file`."""
    return f"{MARKER}\n".join(program.text for program in programs)


def split(text: str, marker: str = MARKER) -> list[str]:
    """The parts of what a tool printed under `--split-input-file`, in the order of the input."""
    parts: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        if line.strip() == marker:
            parts.append([])
        else:
            parts[-1].append(line)
    return ["".join(part) for part in parts]


@cache
def _header(triple: str, data_layout: str) -> tuple[tuple[str, Attribute], ...]:
    """The module's attributes: an index is 32 bits wide, and what it is compiled for."""
    module = parse("module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} {\n}", "<header>")
    found = dict(module.attributes)
    found["llvm.target_triple"] = StringAttr(triple)
    if data_layout:
        found["llvm.data_layout"] = StringAttr(data_layout)
    return tuple(found.items())


class _Program:
    """One core on its way out of the design."""

    def __init__(self, owner: Outliner, core: CoreOp, key: CoreId) -> None:
        self.owner = owner
        self.core = core
        self.key = key
        self.target = owner.device.target
        self.lowering = CoreLowering(self.target, owner.sink, owner.rename)
        self.buffers: dict[BufferOp, str] = {}
        self.taken = {CORE_NAME}
        self.said = len(owner.sink.items)

    @property
    def failed(self) -> bool:
        return any(d.is_error for d in self.owner.sink.items[self.said :])

    def names(self) -> tuple[tuple[str, str], ...]:
        buffers = tuple((name, buffer.symbol or "") for buffer, name in self.buffers.items())
        return ((CORE_NAME, self.key.label), *buffers)

    def module(self) -> ModuleOp | None:
        """The module; None when something in the core cannot be part of one."""
        function = self._function()
        if self.failed:
            return None
        used = self._closure(function)
        own = [self._global(buffer, name) for buffer, name in self.buffers.items()]
        functions = [op for op in used if isinstance(op, FuncOp)]
        declared = [op for op in functions if op.is_declaration]
        defined = [op for op in functions if not op.is_declaration]
        others = [op for op in used if not isinstance(op, FuncOp)]
        made: list[Operation] = [*own, *others, *self.lowering.declarations(), *declared, *defined, function]
        module = ModuleOp(made, dict(self.owner.header))
        module.location = self.core.location
        normalize(module)
        LowerVectorTransfers().apply(module, self.owner.sink)
        widen_loops(module, self.owner.sink)
        self._check(module)
        return None if self.failed else module

    # --- the core itself ----------------------------------------------------------------------------------------------

    def _function(self) -> FuncOp:
        mapper: dict[SSAValue, SSAValue] = {}
        made: list[Operation] = []
        for value, uses in outer_uses(self.core).items():
            if not self.lowering.stand_in(value, self.core, mapper, made, self._buffer):
                self.lowering.refuse_outer(value, uses[0][0])
        region = Region()
        self.core.body.clone_into(region, value_mapper=mapper, clone_name_hints=False)
        entry = region.blocks[0]
        first = entry.first_op
        if first is not None:
            entry.insert_ops_before(made, first)
        function = FuncOp(CORE_NAME, ((), ()), region)
        function.location = self.core.location
        if not self.failed:
            self.lowering.lower_core(region, self.core)
        return function

    def _buffer(self, buffer: BufferOp) -> Sequence[Operation]:
        name = self.buffers.get(buffer)
        if name is None:
            name = self.buffers[buffer] = f"{BUFFER_NAME}{len(self.buffers)}"
            self.taken.add(name)
        # Nothing is assumed of its alignment: `mlir-opt` would drop that, and the author may have pinned it anywhere.
        return (get_global(buffer, name),)

    def _global(self, buffer: BufferOp, name: str) -> GlobalOp:
        tile = buffer.tile_op
        own = tile is not None and tile.coord == self.core.coord
        if own:
            check_initial(buffer, self.owner.sink)
        return global_of(buffer, name, initialized=own)

    # --- what it refers to --------------------------------------------------------------------------------------------

    def _closure(self, function: FuncOp) -> list[Operation]:
        """Copies of the functions and globals of the device that are used, directly or not, in program order."""
        wanted: dict[str, Operation] = {}
        todo: list[Operation] = [function]
        while todo:
            for name in _references(todo.pop()):
                found = self.owner.symbols.get(name)
                if found is None or name in wanted or name in self.taken:
                    continue
                copy = found.clone(clone_name_hints=False)
                for key in [k for k in copy.attributes if not k.startswith("llvm.") and k != "sym_name"]:
                    del copy.attributes[key]
                wanted[name] = copy
                self.lowering.lower(copy.walk())
                todo.append(copy)
        order = {name: i for i, name in enumerate(self.owner.symbols)}
        return [wanted[name] for name in sorted(wanted, key=order.__getitem__)]

    # --- what mlir-opt would say less clearly -------------------------------------------------------------------------

    def _check(self, module: ModuleOp) -> None:
        types = {op.sym_name.data: op.function_type for op in module.body.block.ops if isinstance(op, FuncOp)}
        for op in module.walk():
            if isinstance(op, CallOp):
                self._check_call(op, types)
            elif op.name.partition(".")[0] in _NO_CODE:
                # The first one says it all: what is not lowered in a core is mostly not lowered anywhere in it.
                self._refuse(op)
                return
            else:
                check_packed(op, self.owner.sink)

    def _check_call(self, call: CallOp, types: Mapping[str, FunctionType]) -> None:
        name = call.callee.root_reference.data
        type = types.get(name)
        if type is None:
            op_error(self.owner.sink, call, f"'{name}' does not reference a valid function")
            return
        inputs = type.inputs.data
        for i, (wanted, given) in enumerate(zip(inputs, [v.type for v in call.arguments], strict=False)):
            if wanted != given:
                text = f"operand type mismatch: expected operand type '{wanted}', but provided '{given}'"
                op_error(self.owner.sink, call, f"{text} for operand number {i}")
                return
        if len(inputs) != len(call.arguments):
            op_error(self.owner.sink, call, "incorrect number of operands for callee")

    def _refuse(self, op: Operation) -> None:
        if isinstance(op, RawOp):
            text = "cannot be compiled: there is no code generator for its dialect here"
            op_error(self.owner.sink, op, text, todo="compile this code as a C or C++ kernel and call it")
        else:
            op_error(self.owner.sink, op, "cannot be compiled for a core: no pass has lowered it")


def _references(op: Operation) -> Iterator[str]:
    """The symbols an op and everything inside it name."""
    for inner in op.walk():
        for attr in inner.properties.values():
            yield from _names_in(attr)
        for attr in inner.attributes.values():
            yield from _names_in(attr)
        if isinstance(inner, RawOp):
            for piece in inner.pieces():
                if isinstance(piece, str):
                    yield from _SYMBOL.findall(piece)


def _names_in(attr: Attribute) -> Iterator[str]:
    if isinstance(attr, SymbolRefAttr):
        yield attr.root_reference.data
    elif isinstance(attr, ArrayAttr):
        for inner in attr.data:
            yield from _names_in(inner)
