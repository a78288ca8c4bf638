"""Checks cores: a house rule about program memory, as a warning or, above the limit, an error."""

from collections.abc import Generator

from aiecc.api import CoreId, CoreReport, Sink, hookimpl

WARN, LIMIT = 256, 1024


@hookimpl(wrapper=True)
def aiecc_check(core: CoreId, diag: Sink) -> Generator[None, CoreReport, CoreReport]:
    report = yield
    if report.program > LIMIT:
        text = f"core {core.at} has {report.program} bytes of code, more than our {LIMIT}"
        diag.error(text, report.core.where, code="X0101", todo="make it smaller, or leave us out: -p no:outsider_audit")
    elif report.program > WARN:
        diag.warning(f"core {core.at} has {report.program} bytes of code already", report.core.where, code="X0102")
    return report
