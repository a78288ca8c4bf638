"""Which dialects and passes there are. Naming them imports nothing; the first use imports.

Plugins add their own through `register_dialect` and `register_pass`, with functions that make what is asked for.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.ir import Dialect, Operation, TypeAttribute

from aiecc.base.ours import OURS, Ours, home
from aiecc.model import targets

if TYPE_CHECKING:
    from aiecc.ir.passes.base import Pass

# Dialects this house reads and prints op by op. An op they do not have is an error.
_OURS: dict[str, str] = {
    "aie": "aiecc.ir.dialects.aie:AIE",
    "aiex": "aiecc.ir.dialects.aiex:AIEX",
    "builtin": "aiecc.ir.dialects.upstream.builtin:DIALECT",
    "affine": "aiecc.ir.dialects.upstream.affine:DIALECT",
    "arith": "aiecc.ir.dialects.upstream.arith:DIALECT",
    "cf": "aiecc.ir.dialects.upstream.cf:DIALECT",
    "func": "aiecc.ir.dialects.upstream.func:DIALECT",
    "index": "aiecc.ir.dialects.upstream.index:DIALECT",
    "math": "aiecc.ir.dialects.upstream.math:DIALECT",
    "memref": "aiecc.ir.dialects.upstream.memref:DIALECT",
    "scf": "aiecc.ir.dialects.upstream.scf:DIALECT",
    "ub": "aiecc.ir.dialects.upstream.ub:DIALECT",
    "vector": "aiecc.ir.dialects.upstream.vector:DIALECT",
}

# Dialects whose ops xDSL knows in part; the rest is carried along as text.
_PARTLY = {
    "bufferization": "xdsl.dialects.bufferization:Bufferization",
    "dlti": "xdsl.dialects.dlti:DLTI",
    "emitc": "xdsl.dialects.emitc:EmitC",
    "linalg": "xdsl.dialects.linalg:Linalg",
    "llvm": "aiecc.ir.dialects.upstream.llvm:DIALECT",
    "tensor": "xdsl.dialects.tensor:Tensor",
    "tosa": "xdsl.dialects.tosa:TOSA",
    "transform": "xdsl.dialects.transform:Transform",
}

# Dialects whose ops are carried along as text.
_AS_TEXT = frozenset(
    [
        "acc",
        "aievec",
        "aievec_aie1",
        "amdgpu",
        "amx",
        "arm_neon",
        "arm_sme",
        "arm_sve",
        "async",
        "complex",
        "gpu",
        "irdl",
        "ml_program",
        "mpi",
        "nvgpu",
        "nvvm",
        "omp",
        "pdl",
        "pdl_interp",
        "polyaie",
        "ptr",
        "quant",
        "rocdl",
        "shape",
        "shard",
        "smt",
        "sparse_tensor",
        "spirv",
        "test",
        "wasmssa",
        "x86",
        "x86vector",
        "xegpu",
        "xevm",
        "xllvm",
    ]
)


@dataclass(frozen=True, slots=True)
class Syntax:
    """What the reader and the printer need to know of an op.

    parse: reads it after its name; None when it has no custom form.
    print: prints it after its name; None when only the generic form exists.
    names: the names its results would like, as MLIR's `getAsmResultNames`; None for a number.
    """

    cls: type[Operation]
    parse: Callable[[Any], Operation] | None
    print: Callable[[Any, Any], None] | None
    names: Callable[[Any], list[str | None]] | None


@dataclass(frozen=True, slots=True)
class Form:
    """How our layer reads, prints or names an upstream op where xDSL's own way is not MLIR's."""

    parse: Callable[[Any], Operation] | None = None
    print: Callable[[Any, Any], None] | None = None
    names: Callable[[Any], list[str | None]] | None = None


_lock = threading.RLock()
_plugin_dialects: dict[str, Callable[[], Dialect]] = {}
_plugin_passes: dict[str, Callable[[], type[Pass]]] = {}
_withheld: set[str] = set()
_context: Context | None = None
_syntax: dict[str, Syntax | None] = {}
type_cache: dict[str, TypeAttribute] = {}


def _resolve(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def _factory(path: str) -> Callable[[], Dialect]:
    return lambda: _resolve(path)


# --- our own plugins --------------------------------------------------------------------------------------------------


def _lent() -> dict[str, Callable[[], Dialect]]:
    """Dialects of our own plugins, which are imported when a text first uses one."""
    return {
        name: lambda each=each, name=name: _bring(each, name)
        for each in OURS
        if each.name not in _withheld
        for name in each.dialects
    }


def _bring(plugin: Ours, dialect: str) -> Dialect:
    """A dialect, and the devices that its passes make designs for."""
    for target in _hook(plugin, "aiecc_targets"):
        targets.register(target)
    return dict(_hook(plugin, "aiecc_dialects"))[dialect]()


def _hook(plugin: Ours, name: str) -> Any:
    """What a plugin of ours answers; nothing where it has no such hook."""
    return getattr(importlib.import_module(plugin.module), name, tuple)()


def _is_plugin_dialect(name: str) -> bool:
    if name in _plugin_dialects:
        return True
    plugin = home(name)
    return plugin is not None and plugin.name not in _withheld


def withhold(plugins: Iterable[str]) -> None:
    """Do without these plugins of ours (`-p no:NAME`), and no others."""
    global _context
    with _lock:
        wanted = {each.name for each in OURS} & set(plugins)
        if wanted != _withheld:
            _withheld.clear()
            _withheld.update(wanted)
            _context = None
            _syntax.clear()
            type_cache.clear()


WITHHELD = "{0}: the dialect '{1}' comes with the plugin '{2}', left out by -p no:{2}"
"""What is said of an op, attribute or type of such a dialect."""


def withheld_by(dialect: str) -> str:
    """The plugin of ours that brings a dialect and was left out; empty when that is not so."""
    plugin = home(dialect)
    return plugin.name if plugin is not None and plugin.name in _withheld and dialect not in _plugin_dialects else ""


def register_dialect(name: str, factory: Callable[[], Dialect]) -> None:
    """Add a dialect, or replace ours of the same name. `factory` is called when a text first uses it."""
    global _context
    with _lock:
        _plugin_dialects[name] = factory
        _context = None
        _syntax.clear()
        type_cache.clear()


def context() -> Context:
    """The xDSL context that knows every dialect. Shared: do not register anything on it."""
    global _context
    with _lock:
        if _context is None:
            fresh = Context(allow_unregistered=True)
            factories = {name: _factory(path) for name, path in (_OURS | _PARTLY).items()} | _lent() | _plugin_dialects
            for name, factory in factories.items():
                fresh.register_dialect(name, factory)
            fresh.load_registered_dialect("builtin")
            _context = fresh
            _limit_caches()
        return _context


def _limit_caches() -> None:
    if len(type_cache) > 10_000:
        type_cache.clear()


def dialect_names() -> list[str]:
    """Every dialect that can be read, sorted; those whose ops are only carried along as text too."""
    return sorted({*_OURS, *_PARTLY, *_AS_TEXT, *_lent(), *_plugin_dialects})


def known_dialect(name: str) -> bool:
    """Whether ops of this dialect are known one by one."""
    return name in _OURS or _is_plugin_dialect(name)


def is_opaque_dialect(name: str) -> bool:
    """Whether ops of this dialect that are not known are carried along as text."""
    return name in _AS_TEXT or (name in _PARTLY and name not in _plugin_dialects)


def upstream_dialect(name: str) -> bool:
    """Whether a dialect comes from MLIR itself: its verifiers are ours to choose (`upstream/rules.py`)."""
    if name in _plugin_dialects:
        return False
    path = (_OURS | _PARTLY).get(name, "")
    return path.startswith(("aiecc.ir.dialects.upstream.", "xdsl."))


def op_syntax(ctx: Context, name: str) -> Syntax | None:
    """How to read and print the op of this full name; None when no dialect has it."""
    try:
        return _syntax[name]
    except KeyError:
        pass
    with _lock:
        found = _syntax_of(ctx, name)
        _syntax[name] = found
        return found


def _syntax_of(ctx: Context, name: str) -> Syntax | None:
    dialect_name = name.partition(".")[0]
    if dialect_name not in _OURS and dialect_name not in _PARTLY and not _is_plugin_dialect(dialect_name):
        return None
    ctx.get_optional_dialect(dialect_name)
    cls = ctx._loaded_ops.get(name)  # pyright: ignore[reportPrivateUsage]  (get_optional_op would invent one)
    if cls is None:
        return None
    form = _form(dialect_name, name)
    parse = form.parse
    if parse is None and cls.parse.__func__ is not Operation.parse.__func__:  # type: ignore[attr-defined]
        parse = cls.parse
    show = form.print
    if show is None and cls.print is not Operation.print:
        show = cls.print
    return Syntax(cls, parse, show, form.names or getattr(cls, "asm_result_names", None))


def _form(dialect: str, name: str) -> Form:
    """Our own form of an upstream op, when the dialect's module has one."""
    path = None if dialect in _plugin_dialects else (_OURS | _PARTLY).get(dialect, "")
    if path and path.startswith("aiecc.ir.dialects.upstream."):
        forms: dict[str, Form] = importlib.import_module(path.partition(":")[0]).FORMS
        return forms.get(name, Form())
    return Form()


# --- passes -----------------------------------------------------------------------------------------------------------


def register_pass(name: str, factory: Callable[[], type[Pass]]) -> None:
    """Add a pass, or replace ours of the same name. `factory` gives its class when it is first asked for."""
    with _lock:
        _plugin_passes[name] = factory


def install(
    dialects: Iterable[Iterable[tuple[str, Callable[[], Dialect]]]], passes: Iterable[Iterable[type[Pass]]]
) -> None:
    """Register what plugins bring: the answers of the hooks `aiecc_dialects` and `aiecc_passes`."""
    for group in dialects:
        for name, factory in group:
            register_dialect(name, factory)
    for classes in passes:
        for cls in classes:
            register_pass(cls.name, lambda cls=cls: cls)


def _lent_passes() -> dict[str, type[Pass]]:
    return {cls.name: cls for each in OURS if each.name not in _withheld for cls in _hook(each, "aiecc_passes")}


def pass_names() -> Iterable[str]:
    """The names of all passes, sorted."""
    from aiecc.ir.passes import PASSES

    return sorted({*PASSES, *_plugin_passes, *_lent_passes()})


def find_pass(name: str) -> type[Pass] | None:
    """The class of a pass by the name a pipeline gives it; None when there is none."""
    from aiecc.ir.passes import PASSES

    factory = _plugin_passes.get(name)
    if factory is not None:
        return factory()
    path = PASSES.get(name)
    if path is None:
        return _lent_passes().get(name)
    return _resolve(f"aiecc.ir.passes.{path}")
