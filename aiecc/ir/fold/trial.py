"""A change of a program that can be taken back: a copy of what it was, and the way back to it."""

from __future__ import annotations

from xdsl.ir import Operation


class Trial:
    """Made before a change. Afterwards call either `keep` or `undo`, once."""

    def __init__(self, program: Operation) -> None:
        self._program = program
        self._copy = program.clone()

    def keep(self) -> None:
        """The change stays."""
        # The copy uses values from outside the program, and must not be found among their users.
        self._copy.drop_all_references()

    def undo(self) -> None:
        """The program is what it was. Operations inside it are new ones."""
        regions = [self._copy.detach_region(region) for region in list(self._copy.regions)]
        for region in list(self._program.regions):
            self._program.detach_region(region).drop_all_references()
        for region in regions:
            self._program.add_region(region)
        self._copy.drop_all_references()
