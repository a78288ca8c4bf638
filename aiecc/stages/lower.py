"""lower: from the design as written to the level cores are compiled from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiecc.base.diag import Level, Sink
from aiecc.choices import LowerOptions
from aiecc.engine.spec import hookimpl
from aiecc.model import targets
from aiecc.model.artifact import Module
from aiecc.model.build import Lowered
from aiecc.model.design import Design

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@hookimpl
def aiecc_lower(module: Module, lower: LowerOptions, diag: Sink) -> Lowered | None:
    """Run the passes on a copy; the first that reports an error ends it."""
    from aiecc.ir.facts import survey
    from aiecc.ir.lowering import follow, has_fifos, in_affine_loops
    from aiecc.ir.text import dump, thaw
    from aiecc.model.recipe import recipe

    op = thaw(module)
    bare = [c.id for d in survey(op).devices for c in d.cores if c.stack_size is None]
    fifos = has_fifos(op)
    steps = recipe(
        default_stack_size=lower.default_stack_size,
        fifos=fifos,
        affine=fifos and in_affine_loops(op),
        verify_fifos=not lower.skip_fifo_verify,
        packet_fifos=lower.packet_fifos,
        dynamic_fifos=lower.dynamic_fifos,
        bd_chains=lower.bd_chains,
    )
    if not follow(op, steps, diag, verify_each=lower.verify_each):
        return None
    _check_names(survey(op), diag)
    if lower.hang_check != "off" and not diag.failed:
        _check_hang(module, op, steps, lower.hang_check, diag)
    if diag.failed:
        return None
    return Lowered(dump(op), survey(op), tuple(bare) if lower.default_stack_size else (), steps)


def _check_hang(module: Module, lowered: ModuleOp, steps: tuple[str, ...], check: str, diag: Sink) -> None:
    """Designs that must get stuck are refused while their author still looks at them."""
    from aiecc.ir.lowering import follow
    from aiecc.ir.text import thaw
    from aiecc.sim.hang import hang_check, hang_diagnostics

    def relower(changed: ModuleOp) -> ModuleOp | None:
        return changed if follow(changed, steps, Sink()) else None

    before = thaw(module)
    verdict = hang_check(before, lowered, relower=relower)
    level = Level.ERROR if check == "error" else Level.WARNING
    diag.extend(hang_diagnostics(verdict, level, verbose=True))


def _check_names(design: Design, diag: Sink) -> None:
    """Buffers become symbols of the linked cores: a name that no script can say, or that the script needs for
    itself, would otherwise fail, or link to the wrong thing, without a word about the user's line."""
    from aiecc.elf.script import own_symbols, quotable

    for device in design.devices:
        taken = own_symbols(core.id.label for core in device.cores)
        target = targets.get(device.target)
        for tile in device.tiles:
            for buffer in tile.buffers if target.is_core(tile.col, tile.row) else ():
                if not quotable(buffer.name):
                    text = f"the name of buffer {buffer.name!r} cannot be written in a linker script"
                elif buffer.name in taken:
                    text = f"a buffer cannot be named '{buffer.name}': linked cores have a symbol of that name"
                else:
                    continue
                diag.error(f"'aie.buffer' op {text}", buffer.where, code="E0601", todo="rename it")
