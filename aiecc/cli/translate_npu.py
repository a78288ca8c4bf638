"""`aiecc-translate --aie-npu-to-binary`, `--aie-ctrlpkt-to-bin`: a lowered sequence, or its packets, as words."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aiecc.base.diag import Refused, Sink, refuse

if TYPE_CHECKING:
    from aiecc.ir.dialects.aie.tiles import DeviceOp


def to_binary(text: str, file: str, *, device: str, sequence: str, binary: bool, fold: bool, locmap: str) -> bytes:
    """The transaction of one sequence: bytes, or eight hex digits a line. `locmap`: also write a location map there."""
    from aiecc.ir.runtime.transaction import find_sequence, instructions, location_map
    from aiecc.npu import txn

    chosen = _device(text, file, device)
    sink = Sink()
    lowered = instructions(chosen, find_sequence(chosen, sequence), sink)
    if sink.failed:
        raise Refused(*sink.items)
    data = txn.encode(chosen.target, [each.op for each in lowered], fold=fold)
    if locmap:
        told = location_map(chosen, lowered, "")
        try:
            Path(locmap).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            refuse(f"could not write '{locmap}': {error.strerror}", code="E0903")
    return data if binary else _digits(data)


def ctrlpkt_to_binary(text: str, file: str, *, device: str, sequence: str, binary: bool) -> bytes:
    """The words of the control packets of one sequence: bytes, or eight hex digits a line."""
    from aiecc.ir.runtime.control_packets import words_of
    from aiecc.ir.runtime.transaction import find_sequence

    chosen = _device(text, file, device)
    sink = Sink()
    words = words_of(chosen, find_sequence(chosen, sequence), sink)
    if sink.failed:
        raise Refused(*sink.items)
    data = b"".join(word.to_bytes(4, "little") for word in words)
    return data if binary else _digits(data)


def _device(text: str, file: str, name: str) -> DeviceOp:
    """The device of a name in a module that is right; without a name `main`, or the first."""
    from aiecc.ir.facts import devices
    from aiecc.ir.text import parse
    from aiecc.ir.verify import verify

    module = parse(text, file)
    errors = verify(module)
    if errors:
        raise Refused(*errors)
    found = list(devices(module))
    chosen = next((d for d in found if d.symbol == (name or "main")), found[0] if found and not name else None)
    if chosen is None:
        have = ", ".join(d.symbol for d in found)
        todo = f"the devices here are: {have}" if have else ""
        refuse(f"No such device: {name}" if name else "no device in module", code="E0901", todo=todo)
    return chosen


def _digits(data: bytes) -> bytes:
    words = (int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4))
    return "".join(f"{word:08X}\n" for word in words).encode()


def write(output: str, data: bytes) -> None:
    """To a file, or to standard output for `-`."""
    if output == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(output).write_bytes(data)
    except OSError as error:
        refuse(f"could not write '{output}': {error.strerror}", code="E0903")
