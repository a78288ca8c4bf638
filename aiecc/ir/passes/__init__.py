"""One file per pass, named as upstream names it. `base.py` says what a pass is.

`PASSES` maps a pass's name to `module:Class`, relative to this package, so that naming passes imports none of them.
"""

from __future__ import annotations

PASSES: dict[str, str] = {
    "canonicalize": "generic:Canonicalize",
    "cse": "generic:Cse",
}
