"""What element types of the IR are called in `.npy` files."""

from __future__ import annotations

from xdsl.ir import Attribute

_NUMPY = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "bf16": "uint16", "f16": "float16",
          "f32": "float32", "f64": "float64"}  # fmt: skip


def npy_type(element: Attribute) -> str:
    """The type of `npy.TYPES` that holds an element: bf16 as bare 16 bits, which numpy has no name for; `""` for what
    has none, such as a vector.
    """
    name = str(element)
    if name.startswith("ui"):
        found = _NUMPY.get(name[1:])
        return "" if found is None else f"u{found}"
    return _NUMPY.get(name.removeprefix("s"), "")
