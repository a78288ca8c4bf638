"""Reads make-style dependency files, as `-MD -MF` writes them.

A compiler escapes blanks and `#` with a backslash and `$` with another `$`; Windows paths bring backslashes and
drive colons of their own. What is not an escape is taken as written.
"""

from __future__ import annotations

from pathlib import Path


def parse(text: str) -> tuple[str, ...]:
    """The prerequisites of all rules, each once, in order. Nothing is checked; a torn file yields what it has."""
    found: dict[str, None] = {}
    for line in _logical_lines(text):
        words, colon = _words(line)
        if colon is not None:
            found.update(dict.fromkeys(words[colon:]))
    return tuple(found)


def read(path: Path) -> tuple[str, ...]:
    """As `parse`, of a file; empty when there is none."""
    try:
        return parse(path.read_bytes().decode("utf-8", "surrogateescape"))
    except OSError:
        return ()


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    pending = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        # An odd number of backslashes continues; an even one is written that way by nobody but a path's end.
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending += line[:-1] + " "
            continue
        lines.append(pending + line)
        pending = ""
    if pending:
        lines.append(pending)
    return lines


def _words(line: str) -> tuple[list[str], int | None]:
    """The words of a line, and how many of them are targets (None: no rule)."""
    words: list[str] = []
    word: list[str] = []
    colon: int | None = None
    i, end = 0, len(line)

    def close() -> None:
        if word:
            words.append("".join(word))
            word.clear()

    while i < end:
        char = line[i]
        following = line[i + 1] if i + 1 < end else ""
        if char == "\\":
            run = i
            while run < end and line[run] == "\\":
                run += 1
            if run < end and line[run] in " \t#" and (run - i) % 2:
                # Backslashes before a blank stand for half as many, and the last one protects it.
                word += "\\" * ((run - i) // 2) + line[run]
                i = run + 1
                continue
            word += line[i:run]
            i = run
            continue
        if char == "$" and following == "$":
            word.append("$")
            i += 2
            continue
        if char in " \t":
            close()
        elif char == ":" and colon is None and _ends_target(word, following):
            close()
            colon = len(words)
            if colon == 0:
                return [], None
        else:
            word.append(char)
        i += 1
    close()
    return words, colon


def _ends_target(word: list[str], following: str) -> bool:
    """Whether a colon ends the targets; `C:\\x` and `C:/x` have one of their own."""
    if following in ("", " ", "\t"):
        return True
    return not (len(word) == 1 and word[0].isalpha() and following in "\\/")
