"""How designs with objectFifos are written by tests: tiles, fifos, and cores that make, keep and forward objects."""

from __future__ import annotations

import itertools
from collections.abc import Iterator


def device(body: str, kind: str = "npu2") -> str:
    return f"aie.device({kind}) {{\n{body}\n}}\n"


def tiles(*places: tuple[int, int]) -> str:
    return "\n".join(f"%t{c}{r} = aie.tile({c}, {r})" for c, r in places)


def seen(name: str, tile: str, size: int, element: str = "i32") -> str:
    """A buffer for what a core receives, all -1 at first."""
    initial = "dense<-1>"
    return f'%{name} = aie.buffer({tile}) {{sym_name = "{name}"}} : memref<{size}x{element}> = {initial}'


_numbers: Iterator[int] = itertools.count()


def const(name: str, value: int, type: str = "index") -> str:
    return f"%{name} = arith.constant {value} : {type}"


def loop(var: str, times: int, body: str) -> str:
    n = next(_numbers)
    return "\n".join(
        [
            const(f"low{n}", 0),
            const(f"high{n}", times),
            const(f"step{n}", 1),
            f"scf.for %{var} = %low{n} to %high{n} step %step{n} {{",
            body,
            "}",
        ]
    )


def acquire(names: str, fifo: str, port: str, type: str) -> str:
    """`names` are those of the objects, with commas."""
    count = names.count(",") + 1
    values = ", ".join(f"%{name.strip()}" for name in names.split(","))
    return f"{values} = aie.objectfifo.acquire @{fifo} ({port}, {count}) : {', '.join([type] * count)}"


def release(fifo: str, port: str, count: int = 1) -> str:
    return f"aie.objectfifo.release @{fifo} ({port}, {count})"


def fill(obj: str, size: int, round: str, element: str = "i32", *, scale: int = 1, base: int = 0) -> str:
    """obj[i] = base + scale * (round * size + i)."""
    n = next(_numbers)
    body = [
        f"%a{n} = arith.muli %{round}, %size{n} : index",
        f"%b{n} = arith.addi %a{n}, %i{n} : index",
        f"%c{n} = arith.index_cast %b{n} : index to {element}",
        f"%d{n} = arith.muli %c{n}, %scale{n} : {element}",
        f"%e{n} = arith.addi %d{n}, %base{n} : {element}",
        f"memref.store %e{n}, %{obj}[%i{n}] : memref<{size}x{element}>",
    ]
    return "\n".join(
        [
            const(f"size{n}", size),
            const(f"scale{n}", scale, element),
            const(f"base{n}", base, element),
            loop(f"i{n}", size, "\n".join(body)),
        ]
    )


def keep(obj: str, size: int, into: str, total: int, round: str, element: str = "i32", *, plus: str = "") -> str:
    """into[round * size + i] = obj[i], plus another object's element."""
    n = next(_numbers)
    body = [
        f"%v{n} = memref.load %{obj}[%i{n}] : memref<{size}x{element}>",
        f"%a{n} = arith.muli %{round}, %size{n} : index",
        f"%b{n} = arith.addi %a{n}, %i{n} : index",
    ]
    value = f"%v{n}"
    if plus:
        body += [
            f"%w{n} = memref.load %{plus}[%i{n}] : memref<{size}x{element}>",
            f"%x{n} = arith.addi %v{n}, %w{n} : {element}",
        ]
        value = f"%x{n}"
    body.append(f"memref.store {value}, %{into}[%b{n}] : memref<{total}x{element}>")
    return "\n".join([const(f"size{n}", size), loop(f"i{n}", size, "\n".join(body))])


def core(tile: str, *body: str, attributes: str = "") -> str:
    return "\n".join([f"aie.core({tile}) {{", *body, "aie.end", f"}} {attributes}"])


def producer(tile: str, fifo: str, size: int, times: int, element: str = "i32", *, base: int = 0) -> str:
    """A core that makes objects 0, 1, 2, ..: elements count up from `base`."""
    type = f"memref<{size}x{element}>"
    steps = [acquire("o", fifo, "Produce", type), fill("o", size, "r", element, base=base), release(fifo, "Produce")]
    return core(tile, loop("r", times, "\n".join(steps)))


def consumer(tile: str, fifo: str, size: int, times: int, element: str = "i32") -> str:
    """A core that keeps every object, and the buffer `seen_<fifo>` it keeps them in."""
    type, into = f"memref<{size}x{element}>", f"seen_{fifo}"
    steps = [
        acquire("o", fifo, "Consume", type),
        keep("o", size, into, size * times, "r", element),
        release(fifo, "Consume"),
    ]
    return seen(into, tile, size * times, element) + "\n" + core(tile, loop("r", times, "\n".join(steps)))


def fifo(name: str, source: str, sinks: str, depth: str | int, type: str, more: str = "") -> str:
    """`more` is the attributes in braces, or what follows the type."""
    depth = f"{depth} : i32" if isinstance(depth, int) else depth
    attributes, _, values = more.partition("= [")
    return f"aie.objectfifo @{name}({source}, {{{sinks}}}, {depth}) {attributes} : !aie.objectfifo<{type}>" + (
        f" = [{values}" if values else ""
    )


_PADS = "<const_pad_before = {}, const_pad_after = {}>"


def pads(*pairs: tuple[int, int]) -> str:
    return f"#aie<bd_pad_layout_array[{', '.join(_PADS.format(*pair) for pair in pairs)}]>"


def dims(*pairs: tuple[int, int]) -> str:
    return f"[{', '.join(f'<size = {size}, stride = {stride}>' for size, stride in pairs)}]"
