"""Brings a toolchain: one TOML file and the start-up code it names."""

from pathlib import Path

from aiecc.api import hookimpl


@hookimpl
def aiecc_toolchains():
    return [Path(__file__).parent / "toolchains" / "frugal.toml"]
