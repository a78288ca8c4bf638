"""Brings a dialect, and a pass for `aiecc-opt` that counts its ops. xDSL is imported when a design has one of them."""

from aiecc.api import hookimpl


def marks():
    from aiecc_outsider.marks_ir import MARKS

    return MARKS


@hookimpl
def aiecc_dialects():
    return [("lab", marks)]


@hookimpl
def aiecc_passes():
    from aiecc_outsider.marks_ir import CountMarks

    return [CountMarks]
