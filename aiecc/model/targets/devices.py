"""Every device by name. The letters are explained in `tables.py`; all rows are A unless they say otherwise."""

from __future__ import annotations

from aiecc.model.targets.aie1 import AIE1
from aiecc.model.targets.aie2 import AIE2, AIE2P, AIE2PS
from aiecc.model.targets.target import Target

_BFP = ("v8bfp16ebs8", "v16bfp16ebs16")  # A


def _npu1(name: str, number: int, columns: int) -> Target:
    # Even the whole npu1 counts as virtualised: the chip's fifth, DMA-less column is hidden.
    return Target(
        name,
        number,
        AIE2,
        columns,
        6,
        mem_rows=1,
        npu=True,
        virtual=True,
        physical_columns=4,  # N
        txn_generation=3,  # N
        container="cdo",
    )


def _npu2(name: str, number: int, columns: int) -> Target:
    return Target(
        name,
        number,
        AIE2P,
        columns,
        6,
        mem_rows=1,
        npu=True,
        virtual=columns != 8,
        physical_columns=8,  # N
        txn_generation=4,  # N
        container="cdo",
        block_floats=_BFP,
    )


DEVICES: tuple[Target, ...] = (
    Target(
        "xcvc1902",
        1,
        AIE1,
        50,
        9,
        noc_columns=(2, 3, 6, 7, 10, 11, 18, 19, 26, 27, 34, 35, 42, 43, 46, 47),
        product="VCK190",
    ),
    Target("xcve2302", 2, AIE2, 17, 4, mem_rows=1, noc_columns=(2, 3, 6, 7, 10, 11)),
    Target(
        "xcve2802",
        3,
        AIE2,
        38,
        11,
        mem_rows=2,
        noc_columns=(2, 3, 6, 7, 14, 15, 22, 23, 30, 31, 34, 35),
        product="V70, VEK280",
    ),
    _npu1("npu1", 4, 4),
    _npu1("npu1_1col", 5, 1),
    _npu1("npu1_2col", 6, 2),
    _npu1("npu1_3col", 7, 3),
    _npu2("npu2", 8, 8),
    *(_npu2(f"npu2_{columns}col", 8 + columns, columns) for columns in range(1, 8)),
    # N throughout. Every column is modelled as having a NOC shim, a stated approximation.
    Target(
        "xcve3858",
        16,
        AIE2PS,
        36,
        7,
        mem_rows=2,
        npu=True,
        txn_generation=3,
        container="cert",
        controllers_per_column=1,
        product="VEK385",
    ),
)

XRT_NAMES: dict[str, str] = {
    "npu1": "npu1",
    "Phoenix": "npu1",
    "npu4": "npu2",
    "Strix": "npu2",
    "npu5": "npu2",
    "Strix Halo": "npu2",
    "npu6": "npu2",
    "Krackan": "npu2",
}
"""What XRT calls a chip, and the device it is. (A)"""
