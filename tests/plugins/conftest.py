"""The outsider's package, installed once; and projects in a Python that has it."""

import shutil
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiecc.testing.kit import Project

REPO = Path(__file__).parents[2]
OUTSIDER = Path(__file__).parent / "outsider"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the package was installed to, from a copy: building leaves nothing in the tree."""
    source = tmp_path_factory.mktemp("outsider") / "source"
    shutil.copytree(OUTSIDER, source, ignore=shutil.ignore_patterns("__pycache__"))
    target = source.parent / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    command += ["--no-deps", "--no-build-isolation", "--target", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """What plugins register in this test is gone after it."""
    from aiecc.ir import registry, text
    from aiecc.model import targets

    monkeypatch.setattr(targets, "_registry", dict(targets._registry))
    fresh_ones = {"_plugin_dialects": {}, "_plugin_passes": {}, "_withheld": set(), "_syntax": {}, "_context": None}
    for name, fresh in fresh_ones.items():
        monkeypatch.setattr(registry, name, fresh)
    monkeypatch.setattr(text, "_loaded", OrderedDict())
    yield monkeypatch
    for name in [n for n in sys.modules if n.partition(".")[0] == "aiecc_outsider"]:
        del sys.modules[name]


@pytest.fixture
def plain(tmp_path: Path, alone: pytest.MonkeyPatch) -> Project:
    """A project where no plugin is installed."""
    made = Project(tmp_path / "project")
    made.copy(REPO / "examples" / "one_core")
    return made


@pytest.fixture
def project(plain: Project, installed: Path, alone: pytest.MonkeyPatch) -> Project:
    """A project in a Python that has the outsider's package."""
    alone.syspath_prepend(str(installed))
    return plain
