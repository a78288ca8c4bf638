"""What scale.c computes, for `aiecc simulate --kernels`."""


def scale(block, factor, out):
    out.assign([factor[0] * value for value in block.tolist()])
