"""The dialect `pto` in its public textual form. It has no op yet."""

from __future__ import annotations

from xdsl.ir import Dialect

PTO = Dialect("pto", [], [])
