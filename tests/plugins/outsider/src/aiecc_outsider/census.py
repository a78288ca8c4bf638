"""Adds a stage with an option of its own, and a view of what it makes: how many buffers every core's tile has."""

from dataclasses import dataclass

from aiecc.api import CoreId, Placement, hookimpl, option, options, stage, view


@options
class CensusOptions:
    """What is counted."""

    smallest: int = option(0, "--census-from", metavar="BYTES", help="count only buffers of at least so many bytes")


@dataclass(frozen=True)
class Census:
    """The buffers on one tile."""

    count: int
    bytes: int


class Stages:
    @staticmethod
    @stage(gives="census")
    def aiecc_census(core: CoreId, placement: Placement, counting: CensusOptions) -> Census:
        """Count the buffers on a core's tile."""
        raise NotImplementedError


@hookimpl
def aiecc_census(core: CoreId, placement: Placement, counting: CensusOptions) -> Census:
    tile = placement.design.device(core.device).tile(core.col, core.row)
    buffers = [b for b in (tile.buffers if tile else ()) if b.size >= counting.smallest]
    return Census(len(buffers), sum(b.size for b in buffers))


@view("census.txt")
def census_table(census: dict[CoreId, Census]) -> str:
    """Every core with the number and bytes of its buffers."""
    return "".join(f"{core} {each.count} {each.bytes}\n" for core, each in census.items())


@hookimpl
def aiecc_stages():
    return Stages


@hookimpl
def aiecc_views():
    return [census_table]
