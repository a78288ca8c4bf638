"""A command line as LLVM tools read one, brought to the form click reads.

One dash or two are the same for long names; switches take `=true`, `=false`, `=1`, `=0`; everything after `--` is left
alone. `--get-<name>` is turned into `--get=<selector>` before anything else is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from aiecc.base.diag import refuse
from aiecc.base.nearest import nearest

_TRUE = frozenset(("true", "1", "yes", "on", ""))
_FALSE = frozenset(("false", "0", "no", "off"))


def normalize(
    argv: Sequence[str], longs: Collection[str], switches: Collection[str], shorts: Collection[str]
) -> list[str]:
    """Rewrite `argv`. `longs` and `switches` are spelled with two dashes; `shorts` (`-O`) may carry a joined value.

    A switch given false becomes its opposite: `--x=false` is `--no-x` where that exists, else it is dropped.
    Unknown options are refused in LLVM's words, with the nearest name.
    """
    out: list[str] = []
    rest = iter(argv)
    for token in rest:
        if token == "--":
            return [*out, "--", *rest]
        if token == "-" or not token.startswith("-"):
            out.append(token)
            continue
        name, equals, value = token.partition("=")
        long = "--" + name.lstrip("-")
        if name in shorts or (not name.startswith("--") and token[:2] in shorts and long not in longs):
            out.append(token[:2] + token[3:] if token[2:3] == "=" else token)
        elif long not in longs:
            _unknown(token, longs)
        elif long not in switches:
            out.append(long + equals + value)
        else:
            out.extend(_switch(token, long, value, longs))
    return out


def _switch(token: str, long: str, value: str, longs: Collection[str]) -> list[str]:
    if value.lower() in _TRUE:
        return [long]
    if value.lower() not in _FALSE:
        refuse(f"{token}: a switch is true or false, not '{value}'", code="E0901")
    opposite = long.replace("--no-", "--", 1) if long.startswith("--no-") else long.replace("--", "--no-", 1)
    return [opposite] if opposite in longs else []


def _unknown(token: str, known: Iterable[str]) -> None:
    name = "--" + token.partition("=")[0].lstrip("-")
    close = nearest(name, known)
    refuse(
        f"Unknown command line argument '{token}'.",
        code="E0901",
        todo=f"did you mean '{close}'?" if close else "see 'aiecc --help'",
    )


def selectors(argv: Sequence[str], known: Mapping[str, str], options: Collection[str]) -> list[str]:
    """Replace every `--get-NAME` by `--get=...`; `known` maps NAME to what it selects.

    Only tokens with exactly two dashes and no value count; names of real options win. Unknown names are refused with
    the list of those there are.
    """
    out: list[str] = []
    for i, token in enumerate(argv):
        if token == "--":
            return [*out, *argv[i:]]
        name = token.removeprefix("--get-")
        if not token.startswith("--get-") or "=" in token or token in options:
            out.append(token)
        elif name in known:
            out.append(f"--get={known[name]}")
        else:
            listing = "\n".join(f"  --get-{n}  ({edge})" for n, edge in sorted(known.items()))
            refuse(f"aiecc: unknown output selector '{token}'; available selectors are:\n{listing}", code="E0901")
    return out
