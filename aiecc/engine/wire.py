"""Plain data (lists, strings, numbers, bytes, None) to bytes and back: msgpack, with what it lacks made up for."""

from __future__ import annotations

from typing import Any

import msgspec

_BIG, _ODD = 1, 2  # extension codes: an integer beyond 64 bits, a string that is not UTF-8


def pack(plain: Any) -> bytes:
    """The bytes of plain data; tuples count as lists. Raises `TypeError` for anything else."""
    try:
        return msgspec.msgpack.encode(plain)
    except (OverflowError, UnicodeEncodeError):
        return msgspec.msgpack.encode(_escape(plain))


def _escape(plain: Any) -> Any:
    """Huge integers and strings with lone surrogates (undecodable file names), made fit for msgpack."""
    cls = plain.__class__
    if cls is int and not -(2**63) <= plain < 2**64:
        return msgspec.msgpack.Ext(_BIG, hex(plain).encode())
    if cls is str:
        try:
            plain.encode()
        except UnicodeEncodeError:
            return msgspec.msgpack.Ext(_ODD, plain.encode("utf-8", "surrogatepass"))
    if cls in (list, tuple):
        return [_escape(v) for v in plain]
    return plain


def _unescape(code: int, data: memoryview) -> Any:
    if code == _BIG:
        return int(bytes(data), 16)
    return bytes(data).decode("utf-8", "surrogatepass")


_DECODER: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(ext_hook=_unescape)


def unpack(data: bytes) -> Any:
    """Plain data again, tuples as lists; raises `ValueError` for other bytes."""
    try:
        return _DECODER.decode(data)
    except msgspec.MsgspecError as problem:
        raise ValueError(str(problem)) from None
