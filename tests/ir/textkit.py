"""What the tests of the text layer share: mlir-opt as the judge, and random programs."""

from __future__ import annotations

import random
import re
from pathlib import Path

from mlirtools import outcome

from aiecc.base.diag import Diagnostic, Refused
from aiecc.ir.text import parse, print_module
from aiecc.ir.verify import verify

INPUTS = Path(__file__).parent / "upstream"
_MARKER = re.compile(r"^// -----\n", re.MULTILINE)


def chunks(name: str) -> list[str]:
    """The parts of an input file of ours."""
    return _MARKER.split((INPUTS / f"{name}.mlir").read_text())


def mlir_opt(parts: list[str], *flags: str) -> list[str]:
    """What mlir-opt makes of each part, in one process; an empty string where it refuses."""
    done = outcome("mlir", "mlir-opt", "-", "--split-input-file", *flags, text="// -----\n".join(parts))
    found = [part.strip("\n") for part in re.split(r"^// -----", done.stdout, flags=re.MULTILINE)]
    assert len(found) == len(parts)
    return found


def ours(text: str, *, generic: bool = False, debuginfo: bool = False) -> str:
    return print_module(parse(text, "<stdin>"), generic=generic, debuginfo=debuginfo)


def said(text: str, first_line: int = 1) -> list[Diagnostic]:
    """What is wrong with a text: syntax, or what the verifiers find first."""
    try:
        module = parse(text, "<stdin>", allow_unregistered=False, first_line=first_line)
        return verify(module, first_only=True)
    except Refused as refused:
        return list(refused.diagnostics)


def refusal(text: str) -> Diagnostic:
    """The one reason why a text cannot be read."""
    try:
        parse(text, "x.mlir")
    except Refused as refused:
        assert len(refused.diagnostics) == 1
        return refused.diagnostics[0]
    raise AssertionError("the text was read")


# --- random programs --------------------------------------------------------------------------------------------------

_INTS = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minui")
_FLOATS = ("addf", "subf", "mulf", "maximumf")


class Programs:
    """Functions of random upstream ops, every value used after it is defined, under random names."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.used: set[str] = set()

    def name(self) -> str:
        """A name not used before: numbers, words, words with numbers behind."""
        while True:
            pick = self.random.choice(["", "c", "cst", "arg", "v", "true", "c1_i32", "alloc", "x.y", "$a", "-b", "_"])
            name = pick + self.random.choice(["", "_0", "_1", str(self.random.randrange(50))])
            if (not name or name[0].isdigit()) and not name.isdigit():
                continue
            if name not in self.used:
                self.used.add(name)
                return name

    def module(self) -> str:
        self.lines = []
        for i in range(self.random.randrange(1, 4)):
            self.used = set()
            i32, flag, index, buffer = (self.name() for _ in range(4))
            attributes = self.random.choice(["", ' attributes {z.b, "a b" = 1 : i64, a.c = [1, "x", 2.5]}'])
            arguments = f"%{i32}: i32, %{flag}: i1, %{index}: index, %{buffer}: memref<8x?xi32, 1>"
            self.lines.append(f"func.func @f{i}({arguments}){attributes} {{")
            scope = {"i32": [i32], "i1": [flag], "index": [index], "f32": [], "mem": [buffer]}
            self.block(scope, 0)
            self.lines.append("  func.return")
            self.lines.append("}")
        return "\n".join(self.lines) + "\n"

    def block(self, scope: dict[str, list[str]], depth: int) -> None:
        scope = {kind: list(names) for kind, names in scope.items()}
        for _ in range(self.random.randrange(1, 6)):
            self.op(scope, depth)

    def op(self, scope: dict[str, list[str]], depth: int) -> None:
        r = self.random
        choice = r.randrange(9 if depth < 3 else 6)
        pick = {kind: r.choice(names) if names else "" for kind, names in scope.items()}
        out = self.name()
        put = self.lines.append
        if choice == 0:
            kind = r.choice(["i32", "i1", "index", "f32"])
            value = {
                "i32": str(r.randrange(-3, 4)),
                "i1": r.choice(["true", "false"]),
                "index": str(r.randrange(5)),
                "f32": r.choice(["1.0", "-2.5e-3", "0x7FC00000", "0.1", "123456.7"]),
            }[kind]
            put(f"%{out} = arith.constant {value}" + ("" if kind == "i1" else f" : {kind}"))
            scope[kind].append(out)
        elif choice == 1:
            other = r.choice(scope["i32"])
            tag = r.choice(["", ' {tag = "t", b = 3 : i8}'])
            put(f"%{out} = arith.{r.choice(_INTS)} %{pick['i32']}, %{other}{tag} : i32")
            scope["i32"].append(out)
        elif choice == 2 and pick["f32"]:
            fast = r.choice(["", " fastmath<fast>", " fastmath<contract,nnan>"])
            put(f"%{out} = arith.{r.choice(_FLOATS)} %{pick['f32']}, %{pick['f32']}{fast} : f32")
            scope["f32"].append(out)
        elif choice == 3:
            put(f"%{out} = memref.load %{pick['mem']}[%{pick['index']}, %{pick['index']}] : memref<8 x ? xi32, 1>")
            scope["i32"].append(out)
        elif choice == 4:
            put(f'%{out} = arith.cmpi "slt", %{pick["i32"]}, %{pick["i32"]} : i32')
            scope["i1"].append(out)
        elif choice == 5:
            put(f"%{out} = memref.alloc(%{pick['index']}) : memref<8x?xi32, 1>")
            scope["mem"].append(out)
        elif choice == 6:
            variable = self.name()
            put(f"scf.for %{variable} = %{pick['index']} to %{pick['index']} step %{pick['index']} {{")
            self.block({**scope, "index": [*scope["index"], variable]}, depth + 1)
            put("}")
        elif choice == 7:
            put(f"scf.if %{pick['i1']} {{")
            self.block(scope, depth + 1)
            if r.random() < 0.5:
                put("} else {")
                self.block(scope, depth + 1)
            put("}")
        elif choice == 8:
            put(f"%{out}:2 = scf.if %{pick['i1']} -> (i32, i32) {{")
            self.block(scope, depth + 1)
            put(f"scf.yield %{pick['i32']}, %{pick['i32']} : i32, i32")
            put("} else {")
            put(f"scf.yield %{pick['i32']}, %{pick['i32']} : i32, i32")
            put("}")
            scope["i32"].append(f"{out}#{r.randrange(2)}")
