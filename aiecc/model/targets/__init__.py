"""Every device as tables. Ask `get("npu2")`; the questions are the methods of `target.Target`.

`kinds.py` has the words, `tables.py` the shapes, `aie1.py` and `aie2.py` the numbers of each architecture,
`devices.py` the devices.
"""

from __future__ import annotations

from aiecc.model.targets.devices import DEVICES, XRT_NAMES
from aiecc.model.targets.kinds import Arch, Bundle, DmaDirection, PortSide, Sharing, TileKind
from aiecc.model.targets.target import Target, Tile

__all__ = [
    "XRT_NAMES",
    "Arch",
    "Bundle",
    "DmaDirection",
    "PortSide",
    "Sharing",
    "Target",
    "Tile",
    "TileKind",
    "UnknownTarget",
    "get",
    "memory_space_banks",
    "names",
    "numbered",
    "register",
]

_registry: dict[str, Target] = {t.name: t for t in DEVICES}

# The bank a kernel's pointer is qualified with, as a memref memory space: A to D, then the pairs.
_SPACES: dict[int, tuple[int, ...]] = {
    5: (0,),
    6: (1,),
    7: (2,),
    8: (3,),
    9: (0, 1),
    10: (0, 2),
    11: (0, 3),
    12: (1, 2),
    13: (1, 3),
    14: (2, 3),
}


class UnknownTarget(KeyError):
    """No device has this name. The text lists those there are."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"unknown device '{self.name}'; known devices are: {', '.join(names())}"


def get(name: str) -> Target:
    """The device of that name, or `UnknownTarget`."""
    try:
        return _registry[name]
    except KeyError:
        raise UnknownTarget(name) from None


def names() -> tuple[str, ...]:
    """Every device name, ours first, in enum order."""
    return tuple(_registry)


def numbered(number: int) -> Target | None:
    """The device that the generic form of `aie.device` names by this number."""
    return next((t for t in _registry.values() if t.number == number), None)


def register(target: Target) -> None:
    """Add a device (for plugins). Registering an equal one again is fine; another one of that name is a ValueError.

    The number is that of the generic form, 1 or more, and nobody else's.
    """
    known = _registry.get(target.name)
    if known is not None and known.fingerprint != target.fingerprint:
        raise ValueError(f"device '{target.name}' is already known")
    same = numbered(target.number)
    if same is not None and same.name != target.name:
        raise ValueError(f"device '{target.name}' has the number {target.number}, which is that of '{same.name}'")
    if not 0 < target.number < 1 << 31:
        raise ValueError(f"device '{target.name}' has the number {target.number}; it must be 1 to 2147483647")
    _registry[target.name] = target


def memory_space_banks(space: int | None) -> tuple[int, ...] | None:
    """The banks a buffer's memory space allows; None: every bank."""
    return None if space is None else _SPACES.get(space)
