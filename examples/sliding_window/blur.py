"""What blur.c computes, for `aiecc simulate --kernels`."""


def blur(above, here, below, out):
    for i in range(len(out)):
        out[i] = (above[i] + 2 * here[i] + below[i] + 2) >> 2
