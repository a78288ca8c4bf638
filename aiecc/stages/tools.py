"""tools: which compilers build the cores."""

from __future__ import annotations

from aiecc.base.diag import Sink
from aiecc.choices import ToolchainOptions
from aiecc.engine.spec import hookimpl
from aiecc.model.toolchain import Toolchain


@hookimpl
def aiecc_tools(toolchain: ToolchainOptions, diag: Sink) -> Toolchain:
    """Chess where asked for, Peano where found, else the portable toolchain, said aloud."""
    from aiecc.tools.choose import choose
    from aiecc.tools.find import Surroundings
    from aiecc.tools.load import available, folders

    given = {"--peano": toolchain.peano, "--aietools": toolchain.aietools}
    found, said = choose(
        available(folders(toolchain.toolchain_dir), toolchain.offered),
        Surroundings(given={k: v for k, v in given.items() if v}),
        name=toolchain.toolchain,
        xchesscc=toolchain.xchesscc,
        xbridge=toolchain.xbridge,
    )
    diag.extend(said)
    return found
