"""LLVM IR as text, made fit for compilers older than the one that wrote it. Pure functions, all idempotent.

`for_peano` and `for_chess` are the fixes upstream's driver makes; `rename_intrinsics` is for back ends that do not
know the AI Engine; `keep_definitions` for merging modules. Strings, names and comments are never touched.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction

_PROTECTED = re.compile(r'("[^"]*"|;.*$)')


def _lines(text: str, change: Callable[[str, str], str]) -> str:
    """Apply `change(part, line)` to what lies outside strings and comments, line by line."""
    made: list[str] = []
    for line in text.split("\n"):
        if '"' in line or ";" in line:
            parts = _PROTECTED.split(line)
            parts[::2] = [change(p, line) if p else p for p in parts[::2]]
            made.append("".join(parts))
        else:
            made.append(change(line, line))
    return "\n".join(made)


# -- Peano -----------------------------------------------------------------------------------------


def for_peano(text: str, *, merged: bool = False) -> str:
    """IR of a newer LLVM as Peano's reads it.

    `merged`: kernels were linked into the text, whose alignments must stay; otherwise `, align N` goes, so that the
    middle end may vectorize.
    """

    def change(part: str, line: str) -> str:
        part = _attributes_for_peano(part)
        if "@llvm.lifetime." in part:
            part = _lifetime(part, line)
        if not merged and ", align " in part:
            part = re.sub(r", align \d+\b", "", part)
        return part

    return _lines(_constants(text), change)


def _attributes_for_peano(part: str) -> str:
    if "nocreateundeforpoison" in part:
        part = re.sub(r"\bnocreateundeforpoison\b[ \t]*", "", part)
    if "target_mem" in part:
        part = part.replace(", target_mem: none", "")
        part = re.sub(r"(?<![@%\w.$-])memory\([^()]*\btarget_mem\w*:[^()]*\)[ \t]*", "", part)
    return part


def _lifetime(part: str, line: str) -> str:
    """The size operand that lifetime markers used to have."""
    operand = "i64 immarg, " if line.lstrip().startswith("declare") else "i64 -1, "
    return re.sub(r"(@llvm\.lifetime\.(?:start|end)(?:\.\w+)*\()(?=ptr\b)", rf"\g<1>{operand}", part)


# Significant bits, least exponent of a normal number, greatest exponent.
_FORMATS = {"half": (11, -14, 15), "bfloat": (8, -126, 127), "float": (24, -126, 127), "double": (53, -1022, 1023)}
_OTHER_FLOATS = frozenset({"fp128", "x86_fp80", "ppc_fp128"})
_WIDE = {"inf": "0x7FF0000000000000", "-inf": "0xFFF0000000000000", "nan": "0x7FF8000000000000"}
_SPECIAL = {
    "half": {"inf": "0xH7C00", "-inf": "0xHFC00", "nan": "0xH7E00"},
    "bfloat": {"inf": "0xR7F80", "-inf": "0xRFF80", "nan": "0xR7FC0"},
    "float": _WIDE,
    "double": _WIDE,
}

_TOKEN = re.compile(
    r"""
    (?P<name>[%@!$^#][-\w$.]*)
  | (?P<number>[-+]?\d+\.\d*(?:[eE][-+]?\d+)?)(?![-\w$.])
  | (?P<word>[+]?[-A-Za-z$._][-\w$.]*)(?P<label>:)?
  | (?P<other>[\w.$]+)
    """,
    re.VERBOSE,
)


def _constants(text: str) -> str:
    """Floating-point constants in the spellings an older reader knows (steps 4 to 7 of upstream's)."""
    made: list[str] = []
    for line in text.split("\n"):
        made.append(_Line().rewrite(line) if _may_have_constants(line) else line)
    return "\n".join(made)


def _may_have_constants(line: str) -> bool:
    return "inf" in line or "nan" in line or "f0x" in line or ("." in line and re.search(r"\d\.", line) is not None)


class _Line:
    """One line being rewritten; the type of a constant is the last one named before it."""

    def __init__(self) -> None:
        self.type = ""
        self.before = ""

    def rewrite(self, line: str) -> str:
        parts = _PROTECTED.split(line)
        for i in range(0, len(parts), 2):
            parts[i] = _TOKEN.sub(self.token, parts[i])
            if i + 1 < len(parts):
                self.before = ""
        return "".join(parts)

    def token(self, match: re.Match[str]) -> str:
        whole = match[0]
        directly, self.before = self.before, whole
        if (number := match["number"]) is not None:
            return _decimal(number, self.type)
        word = match["word"]
        if word is None or match["label"]:
            return whole
        if word in _FORMATS or word in _OTHER_FLOATS:
            self.type = word
            return whole
        bare = word.removeprefix("+")
        if bare in _WIDE:
            return _SPECIAL.get(directly, _WIDE)[bare]
        if re.fullmatch(r"f0x[0-9A-Fa-f]{8}", word):
            return f"0x{_widened(int(word[3:], 16)):016X}"
        return whole


def _decimal(text: str, kind: str) -> str:
    """A decimal constant; hexadecimal where the type cannot hold it exactly, and always for bfloat."""
    if kind not in ("half", "bfloat", "float"):
        return text
    bits, exact = _rounded(text, kind)
    if kind == "bfloat":
        return f"0xR{bits:04X}"
    if exact:
        return text
    return f"0xH{bits:04X}" if kind == "half" else f"0x{_widened(bits):016X}"


@functools.lru_cache(maxsize=4096)
def _rounded(text: str, kind: str) -> tuple[int, bool]:
    """The bits of the nearest number of a format, ties to even, and whether it is the number itself."""
    digits, least, greatest = _FORMATS[kind]
    value = Fraction(text)
    sign = int(text.startswith("-"))
    size = abs(value)
    exponent = least
    if size:
        exponent = max(least, _exponent(size))
    unit = Fraction(2) ** (exponent - digits + 1)
    whole = round(size / unit)  # ties to even
    if whole == 1 << digits:
        whole, exponent = whole >> 1, exponent + 1
    exact = whole * Fraction(2) ** (exponent - digits + 1) == size
    width = {"half": 5, "bfloat": 8, "float": 8}[kind]
    if exponent > greatest:
        field, whole, exact = (1 << width) - 1, 0, False
    elif whole >> (digits - 1):
        field = exponent - least + 1
    else:
        field = 0  # zero and subnormal numbers
    fraction = whole & ((1 << (digits - 1)) - 1)
    return (sign << width | field) << (digits - 1) | fraction, exact


def _exponent(size: Fraction) -> int:
    """e with 2^e <= size < 2^(e+1)."""
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    return guess if size >= Fraction(2) ** guess else guess - 1


def _widened(bits: int) -> int:
    """A float's bits as those of the double of the same value."""
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return sign << 63 | 0x7FF << 52 | fraction << 29
    (value,) = struct.unpack("<f", bits.to_bytes(4, "little"))
    (wide,) = struct.unpack("<Q", struct.pack("<d", value))
    return int(wide)


# -- Chess -----------------------------------------------------------------------------------------


def for_chess(text: str) -> str:
    """IR of a newer LLVM as Chess's front end reads it."""

    def change(part: str, _: str) -> str:
        if "memory(" in part:
            part = re.sub(r"(?<![@%\w.$-])memory\(([^()]*)\)([ \t]*)", _old_memory, part)
        part = part.replace("captures(none)", "nocapture")
        part = re.sub(r"\bgetelementptr inbounds nuw\b", "getelementptr inbounds", part)
        return re.sub(r"\bnocreateundeforpoison\b[ \t]*", "", part)

    return _lines(text, change)


_ACCESS = {"none": 0, "read": 1, "write": 2, "readwrite": 3}
_ONLY = {
    frozenset({"argmem"}): "argmemonly",
    frozenset({"inaccessiblemem"}): "inaccessiblememonly",
    frozenset({"argmem", "inaccessiblemem"}): "inaccessiblemem_or_argmemonly",
}


def _old_memory(match: re.Match[str]) -> str:
    """What `memory(...)` promises, in the words older LLVMs had; what they could not say is not promised."""
    access = {"argmem": 0, "inaccessiblemem": 0, "other": 0}
    for item in match[1].split(","):
        where, colon, how = (p.strip() for p in item.partition(":"))
        if not colon:
            access = dict.fromkeys(access, _ACCESS.get(where, 3))
        elif where in access:
            access[where] = _ACCESS.get(how, 3)
        else:  # errnomem, target_mem: part of "other" in the old words
            access["other"] |= _ACCESS.get(how, 3)
    touched = frozenset(where for where, how in access.items() if how)
    if not touched:
        words = ["readnone"]
    else:
        mode = functools.reduce(lambda a, b: a | b, access.values())
        words = [w for w in (_ONLY.get(touched, ""), {1: "readonly", 2: "writeonly"}.get(mode, "")) if w]
    return " ".join(words) + match[2] if words else ""


# -- the portable toolchain, merging ---------------------------------------------------------------


def rename_intrinsics(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Calls of intrinsics as calls of functions: `pairs` are (prefix, replacement), the first that fits counts.

    The dots of what follows the prefix become underscores. Quoted names are left alone.
    """
    if not any(prefix in text for prefix, _ in pairs):
        return text

    def renamed(match: re.Match[str]) -> str:
        name = match[1]
        for prefix, replacement in pairs:
            if name.startswith(prefix):
                return "@" + replacement + name[len(prefix) :].replace(".", "_")
        return match[0]

    def change(part: str, _: str) -> str:
        return re.sub(r"@([-A-Za-z$._][-\w$.]*)", renamed, part) if "@" in part else part

    return _lines(text, change)


_GATHER = (
    *(f"load.4x{size}.{half}" for size in (16, 32, 64) for half in ("lo", "hi")),
    *("vsel32", "vbroadcast32.I512", "ext.I256.I512"),
)


def restore_intrinsics(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    """The intrinsics that make up a gather by their own names again, for whoever looks for gathers in renamed IR."""
    for prefix, replacement in pairs[:1]:
        for name in _GATHER:
            text = re.sub(rf"@{re.escape(replacement + name.replace('.', '_'))}\b", f"@{prefix}{name}", text)
    return text


def keep_definitions(text: str) -> str:
    """Definitions that a linker may drop as weak ones that it keeps: lld drops `linkonce` when it merges modules."""

    def change(part: str, _: str) -> str:
        if "linkonce" not in part:
            return part
        return re.sub(r"(\bdefine |= )((?:\w+ )*?)linkonce(_odr)?\b", r"\1\2weak\3", part)

    return _lines(text, change)
