"""The examples with runtime sequences, run from the words the NPU gets, on real arrays."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from aiecc.cli.simulate import run

EXAMPLES = Path(__file__).parents[2] / "examples"


class Host:
    """Arguments of a sequence as files."""

    def __init__(self, folder: Path, example: str, *more: str) -> None:
        self.folder = folder
        self.args = [str(EXAMPLES / example / "design.mlir"), "--seq=run", *more]

    def give(self, index: int, values: list[int]) -> None:
        (self.folder / f"{index}.bin").write_bytes(struct.pack(f"<{len(values)}i", *values))

    def run(self, arguments: int) -> None:
        words = [f"--arg={i}={self.folder / f'{i}.bin'}" for i in range(arguments)]
        assert run([*self.args, *words]) == 0

    def take(self, index: int) -> list[int]:
        data = (self.folder / f"{index}.bin").read_bytes()
        return list(struct.unpack(f"<{len(data) // 4}i", data))


def noise(count: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.randint(-1000, 1000) for _ in range(count)]


def test_passthrough(tmp_path: Path) -> None:
    host = Host(tmp_path, "passthrough")
    source = noise(4096, 1)
    host.give(0, source)
    host.run(2)
    assert host.take(1) == source


def test_transpose(tmp_path: Path) -> None:
    host = Host(tmp_path, "transpose")
    source = noise(64 * 32, 2)
    host.give(0, source)
    host.run(2)
    assert host.take(1) == [source[32 * row + col] for col in range(32) for row in range(64)]


def test_vector_scale(tmp_path: Path) -> None:
    host = Host(tmp_path, "vector_scale", f"--kernels={EXAMPLES / 'vector_scale' / 'scale.py'}")
    vector = noise(4096, 3)
    host.give(0, vector)
    host.give(1, [-7])
    host.run(3)
    assert host.take(2) == [-7 * value for value in vector]


def test_five_buffers(tmp_path: Path) -> None:
    host = Host(tmp_path, "five_buffers")
    parts = [noise(512, 10 + i) for i in range(4)]
    for i, part in enumerate(parts):
        host.give(i, part)
    host.run(5)
    assert host.take(4) == [sum(values) for values in zip(*parts, strict=True)]


def test_columns(tmp_path: Path) -> None:
    host = Host(tmp_path, "columns")
    source = noise(1024, 5)
    host.give(0, source)
    host.run(2)
    assert host.take(1) == [value + 1 + i // 256 for i, value in enumerate(source)]


def test_sliding_window(tmp_path: Path) -> None:
    """Without a sequence: the shim ends are fed and drained from here."""
    width, height = 256, 64
    rng = random.Random(6)
    rows = [[rng.randrange(256) for _ in range(width)] for _ in range(height)]
    (tmp_path / "in.bin").write_bytes(bytes(value for row in rows for value in row))
    folder = EXAMPLES / "sliding_window"
    ends = [f"--in=image={tmp_path / 'in.bin'}", f"--out=blurred={tmp_path / 'out.bin'}"]
    assert run([str(folder / "design.mlir"), f"--kernels={folder / 'blur.py'}", *ends]) == 0
    near = [(rows[max(y - 1, 0)], rows[y], rows[min(y + 1, height - 1)]) for y in range(height)]
    wanted = [
        (a + 2 * b + c + 2) >> 2 for above, here, below in near for a, b, c in zip(above, here, below, strict=True)
    ]
    assert (tmp_path / "out.bin").read_bytes() == bytes(wanted)


@pytest.mark.parametrize("seed", [0, 9])
def test_array_fifos(tmp_path: Path, seed: int) -> None:
    """One block through all 32 cores: filtered four times on its way north, with a sum at each stop."""
    folder = EXAMPLES / "array_fifos"
    args = [str(folder / "design.mlir"), f"--kernels={folder / 'fir.py'}", f"--seed={seed}"]
    blocks, taps = {}, {}
    for col in range(8):
        blocks[col] = [abs(v) % 64 for v in noise(256, 20 + col)]
        taps[col] = [[abs(v) % 32 for v in noise(16, 100 + 4 * col + row)] for row in range(4)]
        flat = [value for row in taps[col] for value in row]
        (tmp_path / f"data{col}").write_bytes(struct.pack("<256i", *blocks[col]))
        (tmp_path / f"taps{col}").write_bytes(struct.pack("<64i", *flat))
        args += [f"--in=data_{col}_2={tmp_path / f'data{col}'}", f"--in=taps_{col}={tmp_path / f'taps{col}'}"]
        for end in ("result", "sums"):
            size = 1024 if end == "result" else 16
            args += [f"--out={end}_{col}={size}", f"--out={end}_{col}={tmp_path / f'{end}{col}'}"]
    assert run(args) == 0
    for col in range(8):
        block, sums = blocks[col], []
        for weights in taps[col]:
            block = [sum(w * block[i - k] for k, w in enumerate(weights) if k <= i) >> 8 for i in range(256)]
            sums.append(sum(block))
        assert struct.unpack("<256i", (tmp_path / f"result{col}").read_bytes()) == tuple(block)
        assert struct.unpack("<4i", (tmp_path / f"sums{col}").read_bytes()) == tuple(sums)
