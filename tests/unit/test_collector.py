"""The pause of the search for cycles ends when the last who asked for it is done."""

import gc

from aiecc.base.collector import paused


def test_nested_pauses_end_with_the_outermost() -> None:
    assert gc.isenabled()
    with paused():
        assert not gc.isenabled()
        with paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_ends_a_pause() -> None:
    try:
        with paused():
            raise ValueError
    except ValueError:
        pass
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
