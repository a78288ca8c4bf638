"""Wraps a stage: says what every core's own data was measured to be."""

from collections.abc import Generator

from aiecc.api import CoreId, CoreMeasure, Sink, hookimpl


@hookimpl(wrapper=True)
def aiecc_measure(core: CoreId, diag: Sink) -> Generator[None, CoreMeasure | None, CoreMeasure | None]:
    measured = yield
    if measured is not None and measured.data is not None:
        banks = sum(measured.data.bank_sizes)
        diag.remark(f"core {core.at} wants {measured.data.size} bytes of data and {banks} bytes pinned to banks")
    return measured
