"""Names of the things a build works on. The texts are upstream's artifact keys."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class DeviceId:
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, order=True)
class CoreId:
    """A core of a device; prints as `main_core_0_2`."""

    device: str
    col: int
    row: int

    @property
    def label(self) -> str:
        """`core_0_2`: the symbol of the core's function."""
        return f"core_{self.col}_{self.row}"

    @property
    def at(self) -> str:
        """`(0, 2)`, as diagnostics write it."""
        return f"({self.col}, {self.row})"

    def __str__(self) -> str:
        return f"{self.device}_{self.label}"


@dataclass(frozen=True, slots=True, order=True)
class KernelId:
    """A file that a device's cores link or merge: an object, archive, bitcode, IR or C/C++ source.

    `path` is as the design writes it.
    """

    device: str
    path: str
    merge: bool = False

    def __str__(self) -> str:
        return f"{self.device}_{self.path}"


@dataclass(frozen=True, slots=True, order=True)
class SequenceId:
    device: str
    name: str

    def __str__(self) -> str:
        return f"{self.device}_{self.name}"
