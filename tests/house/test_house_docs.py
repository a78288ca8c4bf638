"""README says what the code does: its tables are made from it, its commands exist."""

import re
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).parents[2]
README = (REPO / "README.md").read_text("utf-8")


def test_tables_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, REPO / "scripts" / "docs.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_option_is_in_the_help() -> None:
    from aiecc.cli.flags import STAGE_OPTIONS, DriverOptions
    from aiecc.cli.help import driver_help
    from aiecc.engine.options import options_of

    page = driver_help()
    for cls in (DriverOptions, *STAGE_OPTIONS):
        for spec in options_of(cls):
            assert all(flag in page for flag in spec.flags), spec.flags
            assert spec.help, spec.flags


def test_examples_in_readme_exist() -> None:
    for name in re.findall(r"`(examples/\w+)`", README):
        assert (REPO / name / "design.mlir").is_file(), name
    named = set(re.findall(r"`(examples/\w+)`", README))
    assert named == {f"examples/{p.name}" for p in (REPO / "examples").iterdir() if p.is_dir()}


def test_scripts_in_readme_exist() -> None:
    for name in re.findall(r"scripts/(\w+)", README):
        assert (REPO / "scripts" / name).is_file(), name


def test_rooms_in_readme_exist() -> None:
    block = README[README.index("How to read the code") :]
    for name in re.findall(r"^  (\w+)/ ", block, re.M):
        assert (REPO / "aiecc" / name / "__init__.py").is_file(), name


def test_array_example_is_what_its_generator_writes(tmp_path: Path) -> None:
    array = REPO / "examples" / "array"
    subprocess.run([sys.executable, array / "generate.py", tmp_path], check=True)
    made = sorted(p.name for p in tmp_path.iterdir())
    assert len(made) == 33
    for name in made:
        assert (tmp_path / name).read_text() == (array / name).read_text(), name
