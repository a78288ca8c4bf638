"""Wraps a stage: says what every core's own data was measured to be."""

from aiecc.api import CoreId, Sink, hookimpl


@hookimpl(wrapper=True)
def aiecc_measure(core: CoreId, diag: Sink):
    measured = yield
    if measured is not None and measured.data is not None:
        banks = sum(measured.data.bank_sizes)
        diag.remark(f"core {core.at} wants {measured.data.size} bytes of data and {banks} bytes pinned to banks")
    return measured
