"""The pause of the search for cycles ends when the last who asked for it is done."""

import gc
import weakref

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


class Knot:
    """Something that only the collector can free."""

    def __init__(self) -> None:
        self.me = self


def test_what_was_made_meanwhile_counts_as_old_and_can_go() -> None:
    with paused():
        knot = Knot()
    assert any(each is knot for each in gc.get_objects(generation=2))
    gone = weakref.ref(knot)
    del knot
    gc.collect()
    assert gone() is None


def test_what_somebody_froze_stays_frozen() -> None:
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        with paused():
            pass
        assert gc.get_freeze_count() == before > 0
    finally:
        gc.unfreeze()
