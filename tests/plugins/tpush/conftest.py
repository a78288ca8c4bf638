"""The plugin as a fresh process would have it: its devices known, nothing left out."""

from collections.abc import Iterator

import pytest

from aiecc.ir import registry
from aiecc.model import targets
from aiecc.plugins import tpush


@pytest.fixture(autouse=True)
def _as_in_a_fresh_process() -> Iterator[None]:
    """Devices are forgotten between tests, but the dialect that brought them stays loaded."""
    for target in tpush.aiecc_targets():
        targets.register(target)
    yield
    registry.withhold(())
