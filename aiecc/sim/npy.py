"""Arrays in `.npy` files, as far as a stream needs them: the bytes, and for writing one dimension of some type."""

from __future__ import annotations

import ast
from pathlib import Path

from aiecc.base.diag import refuse

_MAGIC = b"\x93NUMPY"
_ALIGN = 64

TYPES = {
    "int8": "|i1", "uint8": "|u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4",
    "int64": "<i8", "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8",
}  # fmt: skip
"""Element types an output can have, and how the format spells them."""


def read_npy(file: Path) -> bytes:
    """The elements of an array in row-major order, or the file as it is when its name does not end in `.npy`.

    Raises Refused for what is no such array: another byte order, columns first, Python objects.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        refuse(f"{file} cannot be read: {error.strerror}", code="E0001")
    if file.suffix != ".npy":
        return data
    if data[:6] != _MAGIC or len(data) < 12:
        refuse(f"{file} is no .npy file", code="E0001")
    wide = data[6] >= 2
    start = 12 if wide else 10
    size = int.from_bytes(data[8:start], "little")
    try:
        header = ast.literal_eval(data[start : start + size].decode("utf-8").strip())
        order, fortran = header["descr"], header["fortran_order"]
    except (ValueError, SyntaxError, KeyError, TypeError):
        refuse(f"{file} has a header that cannot be read", code="E0001")
    if not isinstance(order, str) or order[0] == ">" or order[1] == "O" or fortran:
        refuse(
            f"{file} holds {order!r}{', columns first' if fortran else ''}; store plain little-endian rows",
            code="E0001",
        )
    return data[start + size :]


def write_npy(file: Path, data: bytes, type: str, shape: tuple[int, ...] | None = None) -> None:
    """Elements of a type out of `TYPES`, in one dimension or of a shape; the bare bytes when the name does not end in
    `.npy`.
    """
    whole = data
    if file.suffix == ".npy":
        descr = TYPES[type]
        width = int(descr[2:])
        if len(data) % width:
            refuse(f"{len(data)} bytes are no whole number of {type}", code="E0903", todo="choose another --dtype")
        sizes = (len(data) // width,) if shape is None else shape
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {sizes!r}, }}".encode()
        room = -(len(_MAGIC) + 4 + len(header) + 1) % _ALIGN
        header += b" " * room + b"\n"
        whole = _MAGIC + b"\x01\x00" + len(header).to_bytes(2, "little") + header + data
    try:
        file.write_bytes(whole)
    except OSError as error:
        refuse(f"{file} cannot be written: {error.strerror}", code="E0903")
