"""`aiecc-translate`: what a placed module says, in the formats linkers and people read. Mirrors `aie-translate`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aiecc.base.codes import Exit
from aiecc.base.diag import Refused, refuse, render
from aiecc.cli.additions import invited
from aiecc.cli.args import normalize

if TYPE_CHECKING:
    from aiecc.model.design import Design, DeviceFacts

_STDIN = "-"


def main(argv: Sequence[str] | None = None) -> None:
    """The command. Ends the process with one of the exit codes of `aiecc.base.codes`."""
    sys.exit(run(sys.argv[1:] if argv is None else argv))


def run(argv: Sequence[str]) -> int:
    """As `main`, but returns the exit code."""
    try:
        spelled = {name for p in translate.params for name in (*p.opts, *p.secondary_opts)}
        options = {name for name in spelled if name.startswith("--")} | {"--help"}
        flags = [p for p in translate.params if isinstance(p, click.Option) and p.is_flag]
        switches = {name for p in flags for name in (*p.opts, *p.secondary_opts)}
        args = normalize(argv, options, switches | {"--help"}, ("-o", "-p", "-h"))
        translate.main(args, prog_name="aiecc-translate", standalone_mode=False)
    except Refused as refused:
        for diagnostic in refused.diagnostics:
            print(render(diagnostic), file=sys.stderr)
        usage = any(d.code in ("E0901", "E0902") for d in refused.diagnostics)
        return Exit.USAGE if usage else Exit.REFUSED
    except click.ClickException as wrong:
        print(f"error: {wrong.format_message()}", file=sys.stderr)
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    return Exit.OK


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", default=_STDIN)
@click.option("--aie-generate-ldscript", "ldscript", is_flag=True, help="the linker script of one core")
@click.option("--aie-generate-bcf", "bcf", is_flag=True, help="the BCF of one core, for Chess")
@click.option("--aie-generate-mmap", "mmap", is_flag=True, help="the buffers every tile's core sees")
@click.option("--aie-generate-target-arch", "arch", is_flag=True, help="the architecture of the device")
@click.option("--aie-npu-to-binary", "npu", is_flag=True, help="a lowered runtime sequence as a transaction")
@click.option("--aie-ctrlpkt-to-bin", "packets", is_flag=True, help="the control packets of a sequence")
@click.option("--aie-output-binary/--no-aie-output-binary", "binary", default=True, help="bytes; else hex digits")
@click.option("--aie-sequence-name", "sequence", default="", metavar="NAME", help="the sequence; default: the first")
@click.option(
    "--aie-npu-fold-ddr-addr-offset/--no-aie-npu-fold-ddr-addr-offset",
    "fold",
    default=True,
    help="fold the address of the sixth and later host buffers into the patch",
)
@click.option("--aie-npu-emit-locmap", "locmap", default="", metavar="FILE", help="which bytes come from which line")
@click.option("--tilecol", default=0, metavar="N", help="column of the core")
@click.option("--tilerow", default=0, metavar="N", help="row of the core")
@click.option("--aie-device-name", "device", default="", metavar="NAME", help="the device; default: main")
@click.option("-p", "--plugin", "plugins", multiple=True, metavar="MODULE|FILE.py|no:NAME", help="load a plugin")
@click.option("-o", "output", default=_STDIN, metavar="FILE", help="where to write; default: standard output")
def translate(
    file: str,
    ldscript: bool,
    bcf: bool,
    mmap: bool,
    arch: bool,
    npu: bool,
    packets: bool,
    binary: bool,
    sequence: str,
    fold: bool,
    locmap: str,
    tilecol: int,
    tilerow: int,
    device: str,
    plugins: tuple[str, ...],
    output: str,
) -> None:
    """Read FILE (default: standard input) and print one of the --aie-generate-* formats."""
    asked = [make for wanted, make in ((ldscript, _ldscript), (bcf, _bcf), (mmap, _mmap), (arch, _arch)) if wanted]
    if len(asked) + npu + packets != 1:
        refuse(
            "choose one of the --aie-generate-* options, --aie-npu-to-binary or --aie-ctrlpkt-to-bin",
            code="E0901",
            todo="see 'aiecc-translate --help'",
        )
    invited(plugins)
    if npu or packets:
        from aiecc.cli.translate_npu import ctrlpkt_to_binary, to_binary, write

        name = "<stdin>" if file == _STDIN else file
        text = _text(file)
        if packets:
            data = ctrlpkt_to_binary(text, name, device=device, sequence=sequence, binary=binary)
        else:
            data = to_binary(text, name, device=device, sequence=sequence, binary=binary, fold=fold, locmap=locmap)
        write(output, data)
        return
    design = _read(file)
    _write(output, asked[0](design, device, (tilecol, tilerow)))


# --- input and output -------------------------------------------------------------------------------------------------


def _read(file: str) -> Design:
    from aiecc.ir.facts import survey
    from aiecc.ir.passes.prepare_buffers import name_buffers
    from aiecc.ir.text import parse
    from aiecc.ir.verify import verify

    module = parse(_text(file), "<stdin>" if file == _STDIN else file)
    errors = verify(module)
    if errors:
        raise Refused(*errors)
    name_buffers(module)
    return survey(module)


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == _STDIN else Path(file).read_bytes()
    except OSError as error:
        refuse(f"could not open input file '{file}': {error.strerror}", code="E0001")
    try:
        return data.decode()
    except UnicodeDecodeError:
        refuse(f"'{file}' is not a text file", code="E0001")


def _write(output: str, text: str) -> None:
    if output == _STDIN:
        sys.stdout.write(text)
        return
    try:
        Path(output).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        refuse(f"could not write '{output}': {error.strerror}", code="E0903")


# --- formats ----------------------------------------------------------------------------------------------------------


def _device(design: Design, name: str) -> DeviceFacts:
    found = next((d for d in design.devices if d.id.name == (name or "main")), None)
    if found is None:
        have = ", ".join(d.id.name for d in design.devices)
        text = f"No such device: {name}" if name else "No 'main' device in module"
        refuse(text, code="E0901", todo=f"the devices here are: {have}" if have else "")
    return found


def _ldscript(design: Design, name: str, at: tuple[int, int]) -> str:
    from aiecc.elf.layout import core_layout
    from aiecc.elf.script import linker_script
    from aiecc.model.ids import CoreId
    from aiecc.model.targets import get

    device = _core_tile(design, name, at)
    return linker_script(core_layout(device, CoreId(device.id.name, *at), get(device.target)))


def _bcf(design: Design, name: str, at: tuple[int, int]) -> str:
    from aiecc.elf import bcf
    from aiecc.elf.layout import core_layout
    from aiecc.model.ids import CoreId
    from aiecc.model.targets import get

    device = _core_tile(design, name, at)
    return bcf.bcf(core_layout(device, CoreId(device.id.name, *at), get(device.target), chess=True))


def _core_tile(design: Design, name: str, at: tuple[int, int]) -> DeviceFacts:
    """The device, if it has a core tile there."""
    from aiecc.model.targets import get

    device = _device(design, name)
    if device.tile(*at) is None:
        tiles = ", ".join(f"({t.col}, {t.row})" for t in device.tiles)
        todo = f"give --tilecol and --tilerow of one of: {tiles}" if tiles else ""
        refuse(f"no tile ({at[0]}, {at[1]}) in device {device.id.name}", device.where, code="E0901", todo=todo)
    if not get(device.target).is_core(*at):
        refuse(f"tile ({at[0]}, {at[1]}) is not a core tile", device.where, code="E0901")
    return device


def _mmap(design: Design, name: str, at: tuple[int, int]) -> str:
    """Every tile's view of the memories around it: south, west, north, east."""
    from aiecc.elf.layout import symbol_windows
    from aiecc.model.ids import CoreId
    from aiecc.model.targets import get

    device = _device(design, name)
    target = get(device.target)
    lines: list[str] = []
    for col, row in sorted((t.col, t.row) for t in device.tiles):
        lines += [f"// Tile({col}, {row})", "// Memory map: name base_address num_bytes"]
        if target.is_core(col, row):
            for window in symbol_windows(device, CoreId(device.id.name, col, row), target):
                lines += [f"_symbol {slot.name} 0x{slot.address:X} {slot.size}" for slot in window.slots]
    return "".join(line + "\n" for line in lines)


def _arch(design: Design, name: str, at: tuple[int, int]) -> str:
    """`AIE`, `AIE2`, `AIE2p`, `AIE2ps`; `AIE` also for a module without a device."""
    from aiecc.model.targets import Arch, get

    device = _device(design, name) if name else next(iter(design.devices), None)
    arch = Arch.AIE1 if device is None else get(device.target).arch
    return ("AIE" if arch is Arch.AIE1 else arch.display) + "\n"
