"""Values to bytes and back, led by the annotated type. Equal values of one type give equal bytes.

What can be kept: None, bool, int, float, str, bytes, `Path`, enums, `Blob`, dataclasses of these, named tuples,
`tuple`, `list`, `set`, `frozenset`, `dict` (keys may be dataclasses; their order is part of the value),
`X | None`, unions, `Literal`, and `Any` for plain data. A dataclass becomes the list of its fields, so the bytes
mean something only beside the type; the cache key holds the digest of the code that declares it.
A blob becomes its digest, size and suffix: the folder never gets into the bytes.
"""

from __future__ import annotations

import dataclasses
import enum
import operator
import threading
import types
import typing
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any

from aiecc.base.blob import Blob
from aiecc.engine.wire import pack, unpack


class Unstorable(TypeError):
    """A type that cannot be kept, or a value that is not of its type."""


class _Write:
    """The blobs met while one value is written."""

    __slots__ = ("blobs",)

    def __init__(self) -> None:
        self.blobs: dict[str, Blob] = {}


Encoder = Callable[[Any, _Write], Any]
Decoder = Callable[[Any], Any]


def _as_is(value: Any) -> Any:
    return value


def _run(encoder: Encoder | None, value: Any, write: _Write) -> Any:
    return value if encoder is None else encoder(value, write)


class Codec:
    """Writes and reads values. `blob_path(digest, suffix)` says where a blob lies on this machine."""

    def __init__(self, blob_path: Callable[[str, str], Path]) -> None:
        self._blob_path = blob_path
        self._encoders: dict[Any, Encoder | None] = {}
        self._decoders: dict[Any, Decoder | None] = {}
        # Being built, under the lock; shown to other threads when complete, since types may contain themselves.
        self._new_encoders: dict[Any, Encoder | None] = {}
        self._new_decoders: dict[Any, Decoder | None] = {}
        self._lock = threading.RLock()

    def encode(self, value: Any, hint: Any) -> tuple[bytes, tuple[Blob, ...]]:
        """The bytes of a value of type `hint`, and the blobs in it."""
        write = _Write()
        encoder = self._ready(hint, self._encoders, self._new_encoders, self._encoder)
        plain = value if encoder is None else encoder(value, write)
        try:
            return pack(plain), tuple(write.blobs.values())
        except TypeError as problem:
            raise Unstorable(str(problem)) from None

    def decode(self, data: bytes, hint: Any) -> Any:
        """The value again; raises `ValueError` or `TypeError` for bytes that are none of that type."""
        plain = unpack(data)
        decoder = self._ready(hint, self._decoders, self._new_decoders, self._decoder)
        return plain if decoder is None else decoder(plain)

    # None stands for "as it is": a tuple of a thousand integers is then packed without a Python call each.

    def _ready(self, hint: Any, known: dict[Any, Any], new: dict[Any, Any], make: Callable[[Any], Any]) -> Any:
        """The complete encoder or decoder of a type."""
        try:
            return known[hint]
        except KeyError:
            pass
        with self._lock:
            try:
                made = make(hint)
                known.update(new)
            finally:
                new.clear()
        return made

    def _encoder(self, hint: Any) -> Encoder | None:
        if hint in self._encoders:
            return self._encoders[hint]
        if hint not in self._new_encoders:
            # A type that contains itself finds this forwarder, which looks the real one up on each call.
            self._new_encoders[hint] = lambda value, write: _run(self._encoders[hint], value, write)
            self._new_encoders[hint] = self._make_encoder(hint)
        return self._new_encoders[hint]

    def _decoder(self, hint: Any) -> Decoder | None:
        if hint in self._decoders:
            return self._decoders[hint]
        if hint not in self._new_decoders:
            self._new_decoders[hint] = lambda plain: (self._decoders[hint] or _as_is)(plain)
            self._new_decoders[hint] = self._make_decoder(hint)
        return self._new_decoders[hint]

    def _make_encoder(self, hint: Any) -> Encoder | None:
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if hint is Any or hint is object:
            return _encode_any
        if hint is float:  # an integer in a float's place must come back as it will be on a hit
            return lambda value, _: float(value)
        if origin is typing.Literal or hint in _PLAIN:
            return None
        if isinstance(hint, type) and issubclass(hint, PurePath):
            return _encode_path
        if hint is Blob:
            return _encode_blob
        if isinstance(hint, typing.NewType):
            return self._encoder(hint.__supertype__)
        if origin in (typing.Union, types.UnionType):
            return self._union_encoder(args)
        if origin in (tuple, list, set, frozenset) or hint in (tuple, list, set, frozenset):
            return self._series_encoder(origin or hint, args)
        if origin is dict or hint is dict:
            return self._dict_encoder(args or (Any, Any))
        if isinstance(hint, type):
            if issubclass(hint, enum.Enum):
                return _enum_encoder(hint)
            if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
                return self._record_encoder(hint)
        raise Unstorable(f"a value of type {_name(hint)} cannot be kept")

    def _record_encoder(self, cls: type) -> Encoder:
        fields = _fields(cls)
        encoders = [self._encoder(hint) for _, hint, _ in fields]
        if not fields:
            return _empty_encoder(cls)
        get = operator.attrgetter(*(name for name, _, _ in fields))
        take: Callable[[Any], tuple[Any, ...]] = get if len(fields) > 1 else lambda value: (get(value),)
        todo = [(i, e) for i, e in enumerate(encoders) if e is not None]

        def encode(value: Any, write: _Write) -> Any:
            if value.__class__ is not cls:
                _wrong(value, cls)
            parts = take(value)
            if not todo:
                return parts
            row = list(parts)
            for i, encoder in todo:
                row[i] = encoder(row[i], write)
            return row

        return encode

    def _union_encoder(self, args: tuple[Any, ...]) -> Encoder | None:
        rest = [a for a in args if a is not type(None)]
        if len(rest) == 1:
            inner = self._encoder(rest[0])
            if inner is None:
                return None
            return lambda value, write: None if value is None else inner(value, write)
        arms = [(self._encoder(a), _runtime(a)) for a in rest]

        def encode(value: Any, write: _Write) -> Any:
            if value is None:
                return None
            for exact in (True, False):
                for index, (encoder, cls) in enumerate(arms):
                    if value.__class__ is cls if exact else isinstance(value, cls):
                        return (index, value if encoder is None else encoder(value, write))
            _wrong(value, typing.Union[args])  # noqa: UP007 - built at run time

        return encode

    def _series_encoder(self, cls: type, args: tuple[Any, ...]) -> Encoder:
        if cls is tuple and args and not (len(args) == 2 and args[1] is Ellipsis):
            each = [self._encoder(a) for a in args if a != ()]

            def encode_row(value: Any, write: _Write) -> Any:
                if value.__class__ is not tuple or len(value) != len(each):
                    _wrong(value, tuple[args])
                return [v if e is None else e(v, write) for e, v in zip(each, value, strict=True)]

            return encode_row
        inner = self._encoder(args[0] if args else Any)
        unordered = cls in (set, frozenset)

        def encode(value: Any, write: _Write) -> Any:
            if value.__class__ is not cls:
                _wrong(value, cls)
            plain = value if inner is None else [inner(v, write) for v in value]
            return sorted(plain, key=pack) if unordered else plain

        return encode

    def _dict_encoder(self, args: tuple[Any, ...]) -> Encoder:
        key, item = self._encoder(args[0]), self._encoder(args[1])

        def encode(value: Any, write: _Write) -> Any:
            if value.__class__ is not dict:
                _wrong(value, dict)
            return [
                (k if key is None else key(k, write), v if item is None else item(v, write)) for k, v in value.items()
            ]

        return encode

    def _make_decoder(self, hint: Any) -> Decoder | None:
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if hint is Any or hint is object:
            return _decode_any
        if origin is typing.Literal or hint in _PLAIN:
            return float if hint is float else None
        if isinstance(hint, type) and issubclass(hint, PurePath):
            return Path
        if hint is Blob:
            return self._decode_blob
        if isinstance(hint, typing.NewType):
            return self._decoder(hint.__supertype__)
        if origin in (typing.Union, types.UnionType):
            return self._union_decoder(args)
        if origin in (tuple, list, set, frozenset) or hint in (tuple, list, set, frozenset):
            return self._series_decoder(origin or hint, args)
        if origin is dict or hint is dict:
            return self._dict_decoder(args or (Any, Any))
        if isinstance(hint, type):
            if issubclass(hint, enum.Enum):
                return hint
            if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
                return self._record_decoder(hint)
        raise Unstorable(f"a value of type {_name(hint)} cannot be kept")

    def _record_decoder(self, cls: Any) -> Decoder:
        fields = _fields(cls)
        decoders = [self._decoder(hint) for _, hint, _ in fields]
        todo = [(i, d) for i, d in enumerate(decoders) if d is not None]
        names = [name for name, _, _ in fields]
        by_name = any(kw_only for _, _, kw_only in fields)
        count = len(fields)

        def decode(plain: Any) -> Any:
            if len(plain) != count:
                raise ValueError(f"{len(plain)} fields for {cls.__name__}")
            for i, decoder in todo:
                plain[i] = decoder(plain[i])
            return cls(**dict(zip(names, plain, strict=True))) if by_name else cls(*plain)

        return decode

    def _union_decoder(self, args: tuple[Any, ...]) -> Decoder | None:
        arms = [self._decoder(a) for a in args if a is not type(None)]
        inner = arms[0]
        if len(arms) == 1 and inner is None:
            return None

        def decode_optional(plain: Any) -> Any:
            return None if plain is None or inner is None else inner(plain)

        def decode_union(plain: Any) -> Any:
            if plain is None:
                return None
            index, body = plain
            arm = arms[index]
            return body if arm is None else arm(body)

        return decode_optional if len(arms) == 1 else decode_union

    def _series_decoder(self, cls: Any, args: tuple[Any, ...]) -> Decoder:
        if cls is tuple and args and not (len(args) == 2 and args[1] is Ellipsis):
            each = [self._decoder(a) or _as_is for a in args if a != ()]

            def decode_row(plain: Any) -> Any:
                return tuple([d(v) for d, v in zip(each, plain, strict=True)])

            return decode_row
        inner = self._decoder(args[0] if args else Any)
        if inner is None:
            return cls

        def decode(plain: Any) -> Any:
            return cls([inner(v) for v in plain])

        return decode

    def _dict_decoder(self, args: tuple[Any, ...]) -> Decoder:
        key, item = self._decoder(args[0]) or _as_is, self._decoder(args[1]) or _as_is
        return lambda plain: {key(k): item(v) for k, v in plain}

    def _decode_blob(self, plain: Any) -> Blob:
        found, size, suffix = plain
        return Blob(found, size, self._blob_path(found, suffix))


_PLAIN: frozenset[Any] = frozenset({bool, int, float, str, bytes, type(None), None})


def _empty_encoder(cls: type) -> Encoder:
    def encode(value: Any, write: _Write) -> tuple[()]:
        return () if value.__class__ is cls else _wrong(value, cls)

    return encode


def _encode_path(value: Any, _: _Write) -> str:
    return str(value) if isinstance(value, PurePath) else _wrong(value, Path)


def _encode_blob(value: Any, write: _Write) -> tuple[str, int, str]:
    if value.__class__ is not Blob:
        _wrong(value, Blob)
    write.blobs[value.digest + value.path.suffix] = value
    return value.digest, value.size, value.path.suffix


def _enum_encoder(cls: type[enum.Enum]) -> Encoder:
    return lambda value, _: value.value if value.__class__ is cls else _wrong(value, cls)


def _encode_any(value: Any, write: _Write) -> Any:
    """Plain data told apart by a letter, for values annotated `Any` or `object`."""
    cls = value.__class__
    if value is None or cls in (bool, int, float, str, bytes):
        return value
    if cls in (list, tuple):
        return ["l" if cls is list else "t", [_encode_any(v, write) for v in value]]
    if cls is dict:
        return ["d", [(_encode_any(k, write), _encode_any(v, write)) for k, v in value.items()]]
    if isinstance(value, PurePath):
        return ["p", str(value)]
    return _wrong(value, Any)


def _decode_any(plain: Any) -> Any:
    if plain.__class__ is not list:
        return plain
    letter, body = plain
    if letter == "d":
        return {_decode_any(k): _decode_any(v) for k, v in body}
    if letter == "p":
        return Path(body)
    items = [_decode_any(v) for v in body]
    return items if letter == "l" else tuple(items)


def _fields(cls: Any) -> list[tuple[str, Any, bool]]:
    """Name, type and keyword-only of every field that the constructor takes."""
    try:
        hints = typing.get_type_hints(cls)
    except Exception as problem:  # annotations are expressions
        raise Unstorable(f"the annotations of {cls.__name__} cannot be resolved: {problem}") from None
    if dataclasses.is_dataclass(cls):
        return [(f.name, hints[f.name], bool(f.kw_only)) for f in dataclasses.fields(cls) if f.init]
    return [(name, hints.get(name, Any), False) for name in cls._fields]


def _runtime(hint: Any) -> Any:
    """The class to tell a union's arms apart by."""
    if isinstance(hint, typing.NewType):
        return _runtime(hint.__supertype__)
    if typing.get_origin(hint) is typing.Literal:
        return type(typing.get_args(hint)[0])
    return typing.get_origin(hint) or hint


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


def _wrong(value: Any, hint: Any) -> typing.NoReturn:
    raise Unstorable(f"a {type(value).__name__} stands where {_name(hint)} is expected")
