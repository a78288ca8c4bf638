"""Dependency files as compilers write them."""

import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiecc.tools.depfile import parse, read


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.o: a.c b.h \\\n  c.h\n", ("a.c", "b.h", "c.h")),
        ("a.o: a.c \\\r\n  b.h\r\n", ("a.c", "b.h")),
        ("a.o:b.h", ("b.h",)),
        ("a.o : b.h", ("b.h",)),
        ("a.o a.d: a.c a.c\n", ("a.c",)),
        ("a.o: a.c b.h\n\nb.h:\n", ("a.c", "b.h")),
        ("x\\ y.o: /a/b\\ c.h d\\#e.h $$f.h\n", ("/a/b c.h", "d#e.h", "$f.h")),
        ("a.o: odd\\\\\\ name.h\n", ("odd\\ name.h",)),
        ("C:\\x\\a.o: C:\\x\\a.c \\\r\n C:/y/b.h\n", ("C:\\x\\a.c", "C:/y/b.h")),
        ("a.o: \\\n\n", ()),
        ("", ()),
        ("no rule here", ()),
        (": b.h", ()),
        ("a.o: cut off in the mid\\", ("cut", "off", "in", "the", "mid")),
        ("a.o: a.c\nb.o: b.c", ("a.c", "b.c")),
    ],
)
def test_parse(text, found):
    assert parse(text) == found


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\t\\:\0"), min_size=1).filter(
    lambda s: s.strip(" ") == s
)


@given(st.lists(NAMES, unique=True))
def test_what_was_escaped_comes_back(names):
    escaped = [n.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ") for n in names]
    assert parse("out.o: " + " \\\n  ".join(escaped) + "\n") == tuple(names)


@given(st.text())
def test_no_text_is_a_problem(text):
    parse(text)


def test_no_file(tmp_path):
    assert read(tmp_path / "none.d") == ()
    assert read(tmp_path) == ()


@pytest.mark.tools
@pytest.mark.skipif(sys.platform == "win32", reason="names Windows does not allow")
def test_as_clang_writes_it(tmp_path, portable_clang):
    names = ["plain.h", "with blank.h", "with#hash.h", "with$dollar.h", "two  blanks.h"]
    for name in names:
        (tmp_path / name).write_text("")
    (tmp_path / "a.c").write_text("".join(f'#include "{n}"\n' for n in names))
    portable_clang(["-c", "a.c", "-o", "a.o", "-MD", "-MF", "a.d"], tmp_path)
    assert [Path(f).name for f in read(tmp_path / "a.d")] == ["a.c", *names]


@pytest.fixture
def portable_clang():
    from aiecc.testing.standins import portable
    from aiecc.tools.run import Runner

    clang = portable().tool("clang").argv
    assert shutil.which(clang[0])
    return lambda args, cwd: Runner().check([*clang, *args], cwd=cwd)
