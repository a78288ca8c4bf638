"""What a test left out is there again for the next one."""

from collections.abc import Iterator

import pytest

from aiecc.ir import registry


@pytest.fixture(autouse=True)
def _back_again() -> Iterator[None]:
    yield
    registry.withhold(())
