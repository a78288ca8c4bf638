"""Upstream's objectFifo tests, with what they expect respelt as the specification spells it today.

`python tests/compat_spelling.py FROM TO` copies a folder of tests. The designs in them stay as they are, as older forms
are read; the CHECK lines change: `objectfifo.flow` is `route`, `dangling_endpoint` is `route_endpoint`, `{packet}` is a
header, segments are operations with names, and a `pkt_type = 0` is not printed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_SEGMENT = re.compile(r"#aie\.objectfifo_segment<([^>]*)>")
_SEGMENTS = re.compile(r"(, )?segments = \[((?:#aie\.objectfifo_segment<[^>]*>(?:, )?)*)\]")
_INDICES = re.compile(r"segments = array<i32: ([0-9, ]+)>")
_CHECK = re.compile(r"^(\s*//\s*([A-Z]+)(?:-[A-Z]+)?:)(.*)$")


def respelt(line: str) -> Iterator[str]:
    """The lines that stand for one line of a test."""
    found = _CHECK.match(line)
    if found is None or found[2] == "RUN":
        yield line
        return
    text = line.replace("objectfifo.dangling_endpoint", "route_endpoint").replace("objectfifo.flow", "route")
    text = text.replace("{packet, packet_id = 7 : i8}", "{packet = #aie.packet_info<pkt_id = 7>}")
    text = re.sub(r"(to \[[^\]]*\]) \{packet\}", r"\1 {packet = #aie.packet_info<>}", text)
    text = text.replace("pkt_type = 0, ", "")
    text = _INDICES.sub(lambda m: f"segments = [{', '.join(f'@s{int(i)}' for i in m[1].split(','))}]", text)
    listed = _SEGMENTS.search(text)
    if listed is None:
        yield text
        return
    yield _SEGMENTS.sub("", text).replace(" {}", "")
    for i, entry in enumerate(_SEGMENT.findall(listed[2])):
        fields = dict(part.strip().split(" = ") for part in entry.split(","))
        numbers = {key: f"{fields[key]} : i32" for key in ("offset", "size")}
        words = [f"{key} = {value}" for key, value in sorted({**fields, **numbers}.items())]
        yield f"// {found[2]}: aie.objectfifo.segment @s{i} {{" + ", ".join(words) + "}"


def main(source: Path, target: Path) -> None:
    for file in sorted(source.rglob("*.mlir")):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        lines = (new for line in file.read_text().splitlines() for new in respelt(line))
        copy.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
