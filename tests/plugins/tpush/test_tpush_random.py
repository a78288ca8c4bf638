"""Random programs: the event graph, single schedules and all schedules agree on every verdict."""

from tpush_random import tally


def test_three_judges_agree() -> None:
    """Of each verdict there are some among the programs drawn; `python tpush_random.py 5000` does more of them."""
    found = tally(range(400))
    assert sum(found.values()) == 400
    assert min(found[verdict] for verdict in ("good", "deadlock", "race", "left over", "set twice")) >= 5, found
