"""`aiecc disasm`: a transaction binary in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aiecc.base.codes import Exit
from aiecc.base.diag import refuse
from aiecc.engine.options import option, options

USAGE = """usage: aiecc disasm INSTS.bin [--json] [--device NAME]

Prints a transaction (what `aiecc --get-npu-insts` writes) operation by operation: byte offset, register by name, and
the fields that are not zero. A file of eight hex digits a line is read as well.

  --json          everything as JSON
  --device NAME   name registers as on this device (default: the one the header describes)

Exit code 0 if all of it could be read; 1 otherwise, after what could be, with where and why it stops."""


@options
class DisasmOptions:
    """How a transaction is shown."""

    json: bool = option(False, "--json", help="everything as JSON")
    device: str = option("", "--device", metavar="NAME", help="name registers as on this device")


def run(args: Sequence[str]) -> int:
    """Show one file."""
    from aiecc.cli.parse import parse_command

    if "--help" in args or "-h" in args:
        print(USAGE)
        return Exit.OK
    parsed = parse_command("aiecc disasm", args, (DisasmOptions,))
    given: DisasmOptions = parsed.options[DisasmOptions]
    if len(parsed.words) != 1:
        refuse("aiecc disasm wants one file", code="E0901", todo="see 'aiecc disasm --help'")
    import json

    from aiecc.base.nearest import did_you_mean
    from aiecc.model import targets
    from aiecc.npu import disasm
    from aiecc.npu.txn import NotATransaction, decode

    if given.device and given.device not in targets.names():
        refuse(f"there is no device '{given.device}'{did_you_mean(given.device, targets.names())}", code="E0901")
    file = parsed.words[0]
    try:
        data = _bytes(Path(file))
    except OSError as error:
        refuse(f"{file} cannot be read: {error.strerror}", code="E0001")
    try:
        program = decode(data)
    except NotATransaction as problem:
        refuse(f"{file} is no transaction: {problem}", code="E1001")
    device = targets.get(given.device) if given.device else None
    if given.json:
        print(json.dumps(disasm.facts(program, device), indent=2))
    else:
        print(disasm.text(program, device), end="")
    return Exit.OK if program.stopped is None else Exit.REFUSED


def _bytes(file: Path) -> bytes:
    """The words of a file, binary or text."""
    data = file.read_bytes()
    lines = data.split()
    if lines and all(len(line) == 8 and _HEX.issuperset(line) for line in lines):
        return b"".join(int(line, 16).to_bytes(4, "little") for line in lines)
    return data


_HEX = frozenset(b"0123456789abcdefABCDEF")
