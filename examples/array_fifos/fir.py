"""What fir.c computes, for `aiecc simulate --kernels`. Small values only: nothing wraps."""


def fir(data, taps, out, sums):
    values, weights = data.tolist(), taps.tolist()
    made = [sum(w * values[i - k] for k, w in enumerate(weights) if k <= i) >> 8 for i in range(len(values))]
    out.assign(made)
    sums[0] = sum(made)
