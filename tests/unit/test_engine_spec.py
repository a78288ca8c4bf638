"""Options and stages as declarations: what is read off them, and what is refused."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engine_toy import ShoutOptions, Specs, WordId

from aiecc.base.diag import Refused
from aiecc.engine.options import is_options, option, options, options_of
from aiecc.engine.spec import Param, is_stage, read_contract, stage

WORDS = frozenset({"diag", "files", "store", "memo", "calls", "run"})


@options
class Many:
    """Every shape an option may have."""

    measure: bool = option(True, "--no-measure", help="skip")
    check: bool = option(False, "--check")
    level: int = option(2, "-O", "--level", choices=["0", "1", "2"])
    include: tuple[str, ...] = option((), "-I", metavar="DIR")
    sizes: tuple[int, ...] = option((), "--size")
    device: str | None = option(None, hidden=True)
    where: Path | None = option(None)
    ratio: float = option(1.0, kind=lambda word: float(word) / 100)
    internal: int = 7


def test_options_are_frozen_defaulted_and_compared_by_value() -> None:
    assert Many() == Many()
    assert Many(level=1) != Many()
    assert is_options(Many)
    assert not is_options(WordId)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Many().level = 3  # type: ignore[misc]


def test_options_of_lists_what_a_command_line_needs() -> None:
    found = {spec.field: spec for spec in options_of(Many)}
    assert "internal" not in found
    assert found["level"].flags == ("-O", "--level")
    assert found["level"].kind is int
    assert found["level"].choices == ("0", "1", "2")
    assert found["device"].flags == ("--device",)
    assert found["device"].kind is str
    assert found["device"].hidden
    assert found["where"].kind is Path
    assert found["include"].many
    assert found["include"].kind is str
    assert found["sizes"].kind is int
    assert found["ratio"].kind("50") == 0.5
    assert found["measure"].switch
    assert found["measure"].inverted
    assert found["check"].switch
    assert not found["check"].inverted
    assert [spec.field for spec in options_of(Many)][:2] == ["measure", "check"]


def test_an_option_needs_a_default_and_dashes() -> None:
    with pytest.raises(ValueError, match="dash"):
        option(1, "level")
    with pytest.raises(TypeError, match="no default"):

        @options
        class _Bad:
            level: int

    with pytest.raises(TypeError, match="not an @options class"):
        options_of(WordId)


def test_options_of_a_subclass_must_be_marked_themselves() -> None:
    class Plain(ShoutOptions):
        pass

    assert not is_options(Plain)


def test_a_contract_is_read_off_the_signature() -> None:
    contract = read_contract(Specs.aiecc_poster, WORDS)
    assert contract.hook == "aiecc_poster"
    assert contract.label == "poster"
    assert contract.gives == "poster"
    assert contract.type is str
    assert not contract.optional
    names = {param.name: param for param in contract.params}
    assert list(names) == ["room", "shout", "calls", "memo"]
    assert names["shout"].member is WordId
    assert names["memo"] == Param("memo")
    assert read_contract(Specs.aiecc_measure, WORDS).optional
    assert read_contract(Specs.aiecc_split, WORDS).spread == "word"
    assert is_stage(Specs.aiecc_split)
    assert not is_stage(test_a_contract_is_read_off_the_signature)


def test_contract_details() -> None:
    @stage(gives="thing", volatile=True, version=3)
    def aiecc_thing(
        one: int | None, many: dict[WordId, int | None], plain: dict[str, int], either: int | str | None
    ) -> None:
        """Make it.

        At length.
        """

    contract = read_contract(aiecc_thing, WORDS)
    assert (contract.volatile, contract.version) == (True, 3)
    assert contract.doc.startswith("Make it.")
    assert contract.type is type(None)
    assert contract.optional
    one, many, plain, either = contract.params
    assert (one.type, one.optional) == (int, True)
    assert (many.member, many.member_optional, many.optional) == (WordId, True, False)
    assert plain.member is str
    assert (either.type, either.optional) == (int | str, True)


def test_names_help_to_resolve_annotations() -> None:
    @stage(gives="thing")
    def aiecc_thing(one: Elsewhere) -> Elsewhere: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(Refused, match="annotation of parameter 'one' means nothing"):
        read_contract(aiecc_thing, WORDS)
    assert read_contract(aiecc_thing, WORDS, {"Elsewhere": int}).type is int


def test_a_stage_needs_annotations_and_named_parameters() -> None:
    @stage(gives="thing")
    def aiecc_bare(one) -> int: ...  # type: ignore[no-untyped-def]

    @stage(gives="thing")
    def aiecc_none(one: int): ...  # type: ignore[no-untyped-def]

    @stage(gives="thing")
    def aiecc_star(*one: int) -> int: ...

    with pytest.raises(Refused, match="aiecc_bare: parameter 'one' has no annotation"):
        read_contract(aiecc_bare, WORDS)
    with pytest.raises(Refused, match="aiecc_none: what it returns has no annotation"):
        read_contract(aiecc_none, WORDS)
    with pytest.raises(Refused, match=r"not \*one"):
        read_contract(aiecc_star, WORDS)
    with pytest.raises(ValueError, match="named like a variable"):
        stage(gives="two words")


def test_words_of_the_house_need_no_annotation() -> None:
    @stage(gives="thing")
    def aiecc_thing(diag, calls: Unknown) -> int: ...  # type: ignore  # noqa: F821

    assert [p.name for p in read_contract(aiecc_thing, WORDS).params] == ["diag", "calls"]


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("aiecc.engine.options", ["pluggy", "msgspec"]),
        ("aiecc.engine.snapshot", ["pluggy", "msgspec"]),
        ("aiecc.engine.spec", ["msgspec", "importlib.metadata"]),
        ("aiecc.engine.run", ["importlib.metadata", "concurrent.futures", "asyncio", "logging", "xdsl", "tempfile"]),
    ],
)
def test_imports_stay_light(module: str, forbidden: list[str]) -> None:
    code = f"import sys, {module}; print([m for m in {forbidden!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_defaults_of_mutable_shape_work() -> None:
    @options
    class Lists:
        words: Any = dataclasses.field(default_factory=lambda: ("a",))

    assert Lists().words == ("a",)
