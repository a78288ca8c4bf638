"""`aiecc-translate --aie-npu-to-binary`: a lowered sequence as the words the NPU executes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from aiecc.base.diag import Refused, Sink, refuse


def to_binary(text: str, file: str, *, device: str, sequence: str, binary: bool, fold: bool, locmap: str) -> bytes:
    """The transaction of one sequence: bytes, or eight hex digits a line. `locmap`: also write a location map there."""
    from aiecc.ir.facts import devices
    from aiecc.ir.runtime.transaction import find_sequence, instructions, location_map
    from aiecc.ir.text import parse
    from aiecc.ir.verify import verify
    from aiecc.npu import txn

    module = parse(text, file)
    errors = verify(module)
    if errors:
        raise Refused(*errors)
    found = list(devices(module))
    chosen = next((d for d in found if d.symbol == (device or "main")), found[0] if found and not device else None)
    if chosen is None:
        have = ", ".join(d.symbol for d in found)
        todo = f"the devices here are: {have}" if have else ""
        refuse(f"No such device: {device}" if device else "no device in module", code="E0901", todo=todo)
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
    if binary:
        return data
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
