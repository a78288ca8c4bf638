"""Headers read off a source's text."""

import pytest

from aiecc.tools.includes import headers


def test_directly_and_indirectly_each_once(tmp_path):
    (tmp_path / "k.c").write_text('#include "a.h"\n  #  include <b.h>\n#include <stdint.h>\n#include "a.h"\n')
    (tmp_path / "a.h").write_text('#include "sub/c.h"\n#if 0\n#include "d.h"\n#endif\n')
    (tmp_path / "d.h").write_text('#include "k.c"\n#include "a.h"\n')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.h").write_text('#include "e.h"\n')
    (tmp_path / "sub" / "e.h").write_text("")
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "b.h").write_text('#include\\\n "a.h"\n')
    found = headers(tmp_path / "k.c", [tmp_path / "inc"])
    assert [str(f.relative_to(tmp_path)) for f in found] == ["a.h", "inc/b.h", "sub/c.h", "d.h", "sub/e.h"]


def test_angles_do_not_look_beside_the_file(tmp_path):
    (tmp_path / "k.c").write_text("#include <a.h>\n")
    (tmp_path / "a.h").write_text("")
    assert headers(tmp_path / "k.c") == ()
    assert headers(tmp_path / "k.c", [tmp_path]) == (tmp_path / "a.h",)


@pytest.mark.parametrize(
    "text", ["", "#include", '#include "', '#include "\0"', f'#include "{"x" * 5000}"', "#include X(a.h)"]
)
def test_odd_sources(tmp_path, text):
    (tmp_path / "k.c").write_text(text)
    assert headers(tmp_path / "k.c", [tmp_path]) == ()


def test_no_source(tmp_path):
    assert headers(tmp_path / "none.c") == ()
    (tmp_path / "k.c").write_bytes(b'\xff\xfe\n#include "a.h"\n')
    (tmp_path / "a.h").write_bytes(b"\x00")
    assert headers(tmp_path / "k.c") == (tmp_path / "a.h",)


@pytest.mark.tools
def test_never_less_than_a_compiler_says(tmp_path):
    from aiecc.testing.standins import portable
    from aiecc.tools.depfile import read
    from aiecc.tools.run import Runner

    (tmp_path / "k.c").write_text('#define B\n#ifdef B\n#include "b.h"\n#else\n#include "c.h"\n#endif\n')
    (tmp_path / "b.h").write_text('#include "sub/d.h"\n')
    (tmp_path / "c.h").write_text("")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "d.h").write_text("")
    clang = portable().tool("clang").argv
    Runner().check([*clang, "-c", "k.c", "-o", "k.o", "-MD", "-MF", "k.d"], cwd=tmp_path)
    said = {tmp_path / f for f in read(tmp_path / "k.d")} - {tmp_path / "k.c"}
    assert said == {tmp_path / "b.h", tmp_path / "sub" / "d.h"}
    assert said <= set(headers(tmp_path / "k.c"))
