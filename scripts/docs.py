"""Fill the tables of README.md from the code. `scripts/docs --check` only says whether they are up to date."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def artifacts() -> str:
    """Views of our own, as `--get` knows them."""
    from aiecc.api import load_plugins, views
    from aiecc.cli.flags import SELECTORS

    short = {edge: name for name, edge in SELECTORS.items()}
    rows = ["| `--get=` | short | is |", "|---|---|---|"]
    for name, view in views(load_plugins()).items():
        also = f"`--get-{short[name]}`" if name in short else ""
        rows.append(f"| `{name}` | {also} | {view.about.rstrip('.')} |")
    return "\n".join(rows)


def options() -> str:
    """Options, table by table."""
    from aiecc.cli.flags import STAGE_OPTIONS, DriverOptions
    from aiecc.engine.options import options_of

    rows = ["| option | meaning |", "|---|---|"]
    for cls in (DriverOptions, *STAGE_OPTIONS):
        for spec in options_of(cls):
            flags = ", ".join(f"`{f}`" for f in spec.flags)
            value = "" if spec.switch else f" `{spec.metavar or 'VALUE'}`".replace("|", "\\|")
            text = spec.help.replace("|", "\\|").replace("<", "&lt;")
            rows.append(f"| {flags}{value} | {text} |")
    return "\n".join(rows)


def stages() -> str:
    """The page of hooks: stages, then registration."""
    import inspect

    from aiecc import hooks
    from aiecc.api import STAGE_WORDS, load_plugins

    rows = ["| hook | gives | says |", "|---|---|---|"]
    contracts = {c.hook: c for c in load_plugins().stages(STAGE_WORDS)}
    for name, function in vars(hooks).items():
        if not name.startswith("aiecc_") or not callable(function):
            continue
        about = (inspect.getdoc(function) or "").partition("\n")[0]
        gives = f"`{contracts[name].gives}`" if name in contracts else ""
        rows.append(f"| `{name}` | {gives} | {about} |")
    return "\n".join(rows)


def diagnostics() -> str:
    """Codes and what they stand for."""
    from aiecc.base.codes import CODES

    return "\n".join(["| code | says |", "|---|---|", *(f"| `{code}` | {text} |" for code, text in CODES.items())])


def devices() -> str:
    """Every device word with its shape."""
    from aiecc.model import targets
    from aiecc.model.targets import TileKind

    rows = [
        "| device | architecture | columns x rows | cores | core memory | program memory |",
        "|---|---|---|---|---|---|",
    ]
    for name in targets.names():
        t = targets.get(name)
        cores = sum(t.is_core(c, r) for c in range(t.columns) for r in range(t.rows))
        memory = t.memory_size(TileKind.CORE) // 1024
        rows.append(
            f"| `{name}` | {t.arch.display} | {t.columns} x {t.rows} | {cores} | {memory} KiB in "
            f"{t.banks(TileKind.CORE)} banks | {t.program_memory_size // 1024} KiB |"
        )
    return "\n".join(rows)


BLOCKS: dict[str, Callable[[], str]] = {
    "artifacts": artifacts,
    "options": options,
    "stages": stages,
    "diagnostics": diagnostics,
    "devices": devices,
}


def filled(text: str) -> str:
    """The README with every block made anew."""
    for name, make in BLOCKS.items():
        block = f"<!-- begin:{name} -->\n{make()}\n<!-- end:{name} -->"
        text, count = re.subn(rf"<!-- begin:{name} -->.*?<!-- end:{name} -->", lambda _, b=block: b, text, flags=re.S)
        if count != 1:
            raise SystemExit(f"README.md has {count} blocks named {name}")
    return text


def main() -> None:
    before = README.read_text("utf-8")
    after = filled(before)
    if "--check" in sys.argv[1:]:
        sys.exit(0 if before == after else "README.md is out of date: run scripts/docs")
    README.write_text(after, "utf-8")


if __name__ == "__main__":
    main()
