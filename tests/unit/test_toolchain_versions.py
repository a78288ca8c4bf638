"""Tools on PATH that are too old are passed over, and the doctor says why."""

from pathlib import Path

import pytest

from aiecc.tools.find import Surroundings, explore
from aiecc.tools.load import available, folders, load


@pytest.mark.parametrize(("version", "taken"), [("19.1.7", False), ("20.1.0", True), ("22.1.8", True)])
def test_mlir_before_20(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, taken: bool) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tool = tmp_path / "mlir-opt"
    tool.write_text(f"#!/bin/sh\necho 'Debian LLVM version {version}'\n")
    tool.chmod(0o755)
    monkeypatch.setattr("aiecc.tools.find._wheel_folders", lambda package: [])
    spec = load("llvm", available(folders(environ={})))
    found = explore(spec, Surroundings(environ={"PATH": f"{tmp_path}:/usr/bin:/bin"}))
    tools = found.toolchain.tools
    assert ("mlir-opt" in tools and tools["mlir-opt"].path == str(tool)) == taken
    if not taken:
        told = [s.problem for s in found.searched if s.tool == "mlir-opt" and s.problem]
        assert told == [f"{tool} says it is 'Debian LLVM version {version}'"]
