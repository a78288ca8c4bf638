"""What every room of the tests can ask for."""

from __future__ import annotations

import pytest
from hypothesis import settings

from aiecc.model import targets

# One verdict for one commit. `--hypothesis-profile=search` tries examples that no run had before.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("suite")


@pytest.fixture
def only_built_in_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device list as a fresh process has it: plugins that ran in this one have brought theirs."""
    built_in = {name: target for name, target in targets._registry.items() if target in targets.DEVICES}
    monkeypatch.setattr(targets, "_registry", built_in)
