// Fixed-point building blocks of the array example. Everything is a template over its sizes, so that
// each of the 32 cores is a program of its own.
#pragma once
#include <stdint.h>

namespace dsp {

constexpr int kBlock = 256;
using Block = int32_t[kBlock];

constexpr int32_t mix(uint32_t seed) {
  seed ^= seed >> 16;
  seed *= 0x7feb352du;
  seed ^= seed >> 15;
  seed *= 0x846ca68bu;
  seed ^= seed >> 16;
  return static_cast<int32_t>(seed) >> 17;
}

// A table computed by the compiler; it becomes the core's .rodata.
template <int N, uint32_t Seed> struct Table {
  int32_t at[N];
  constexpr Table() : at() {
    for (int i = 0; i < N; ++i)
      at[i] = mix(Seed + 0x9e3779b9u * static_cast<uint32_t>(i));
  }
};

// Mathematics for tables that the compiler computes; none of it is left in a core.
constexpr double kPi = 3.14159265358979323846;

constexpr double exponential(double x) {
  int halvings = 0;
  while (x > 0.5 || x < -0.5) {
    x /= 2;
    ++halvings;
  }
  double sum = 1, term = 1;
  for (int k = 1; k < 16; ++k) {
    term *= x / k;
    sum += term;
  }
  for (; halvings > 0; --halvings)
    sum *= sum;
  return sum;
}

constexpr double cosine(double x) {
  while (x > kPi)
    x -= 2 * kPi;
  while (x < -kPi)
    x += 2 * kPi;
  double sum = 1, term = 1;
  for (int k = 1; k < 14; ++k) {
    term *= -x * x / ((2 * k - 1) * (2 * k));
    sum += term;
  }
  return sum;
}

constexpr int32_t fixed(double x) { return static_cast<int32_t>(x * 32767 + (x < 0 ? -0.5 : 0.5)); }

// Hann-windowed low-pass filter whose cut-off moves with the seed.
template <int Taps, uint32_t Seed> struct LowPass {
  int32_t at[Taps];
  constexpr LowPass() : at() {
    double cut = 0.1 + 0.3 * (Seed % 97) / 97.0;
    for (int i = 0; i < Taps; ++i) {
      double t = i - (Taps - 1) / 2.0;
      double ideal = t == 0 ? cut : cosine(kPi / 2 - kPi * cut * t) / (kPi * t);
      at[i] = fixed(ideal * (0.5 - 0.5 * cosine(2 * kPi * (i + 1) / (Taps + 1))));
    }
  }
};

// The discrete cosine transform as a matrix, rows rotated by the seed.
template <int Order, uint32_t Seed> struct Dct {
  int32_t at[Order * Order];
  constexpr Dct() : at() {
    for (int r = 0; r < Order; ++r)
      for (int k = 0; k < Order; ++k)
        at[r * Order + k] = fixed(0.5 * cosine(kPi * (2 * k + 1) * ((r + Seed) % Order) / (2.0 * Order)));
  }
};

// tanh with a gain from the seed, over 2^Log steps from -4 to 4.
template <int Log, uint32_t Seed> struct Tanh {
  int32_t at[1 << Log];
  constexpr Tanh() : at() {
    double gain = 0.5 + (Seed % 31) / 31.0;
    for (int i = 0; i < 1 << Log; ++i) {
      double e = exponential(2 * gain * (8.0 * i / (1 << Log) - 4));
      at[i] = fixed((e - 1) / (e + 1));
    }
  }
};

// Finite impulse response filter; the delay line lives on the stack.
template <int Taps, uint32_t Seed> inline void fir(const int32_t *in, int32_t *out) {
  static constexpr LowPass<Taps, Seed> taps;
  int32_t line[kBlock + Taps];
  for (int i = 0; i < Taps; ++i)
    line[i] = 0;
  for (int i = 0; i < kBlock; ++i)
    line[Taps + i] = in[i];
#pragma clang loop unroll_count(4)
  for (int i = 0; i < kBlock; ++i) {
    int64_t sum = 0;
#pragma clang loop unroll(full)
    for (int t = 0; t < Taps; ++t)
      sum += static_cast<int64_t>(taps.at[t]) * line[i + Taps - t];
    out[i] = static_cast<int32_t>(sum >> 15);
  }
}

// A cascade of second-order sections with state that survives from block to block.
template <int Sections, uint32_t Seed> inline void biquads(const int32_t *in, int32_t *out) {
  static constexpr Table<Sections * 5, Seed> c;
  static int32_t state[Sections][2];
  for (int i = 0; i < kBlock; ++i) {
    int32_t x = in[i];
#pragma clang loop unroll(full)
    for (int s = 0; s < Sections; ++s) {
      int32_t w = x - ((c.at[5 * s] * state[s][0] + c.at[5 * s + 1] * state[s][1]) >> 15);
      x = (c.at[5 * s + 2] * w + c.at[5 * s + 3] * state[s][0] + c.at[5 * s + 4] * state[s][1]) >> 15;
      state[s][1] = state[s][0];
      state[s][0] = w;
    }
    out[i] = x;
  }
}

// Walsh-Hadamard transform of every run of 2^Log samples, butterflies written out.
template <int Log, uint32_t Seed> inline void hadamard(const int32_t *in, int32_t *out) {
  constexpr int n = 1 << Log;
  int32_t work[n];
  for (int base = 0; base < kBlock; base += n) {
    for (int i = 0; i < n; ++i)
      work[i] = in[base + i] ^ mix(Seed + static_cast<uint32_t>(i));
#pragma clang loop unroll(full)
    for (int half = 1; half < n; half *= 2)
#pragma clang loop unroll_count(8)
      for (int k = 0; k < n / 2; ++k) {
        int lo = (k / half) * 2 * half + k % half;
        int32_t a = work[lo], b = work[lo + half];
        work[lo] = a + b;
        work[lo + half] = a - b;
      }
    for (int i = 0; i < n; ++i)
      out[base + i] = work[i] >> (Log / 2);
  }
}

// Discrete cosine transform of every run of Order samples.
template <int Order, uint32_t Seed> inline void matmul(const int32_t *in, int32_t *out) {
  static constexpr Dct<Order, Seed> m;
  for (int base = 0; base < kBlock; base += Order)
#pragma clang loop unroll(full)
    for (int r = 0; r < Order; ++r) {
      int64_t sum = 0;
#pragma clang loop unroll(full)
      for (int k = 0; k < Order; ++k)
        sum += static_cast<int64_t>(m.at[r * Order + k]) * in[base + k];
      out[base + r] = static_cast<int32_t>(sum >> 13);
    }
}

// Odd-even merge sort of every run of 2^Log samples: a sorting network without branches.
template <int Log, uint32_t Seed> inline void sorted(const int32_t *in, int32_t *out) {
  constexpr int n = 1 << Log;
  for (int base = 0; base < kBlock; base += n) {
    int32_t v[n];
    for (int i = 0; i < n; ++i)
      v[i] = in[base + i] + mix(Seed);
#pragma clang loop unroll(full)
    for (int p = 1; p < n; p *= 2)
#pragma clang loop unroll(full)
      for (int k = p; k >= 1; k /= 2)
#pragma clang loop unroll(full)
        for (int j = k % p; j + k < n; j += 2 * k)
#pragma clang loop unroll(full)
          for (int i = 0; i < k; ++i)
            if (i + j + k < n && (i + j) / (2 * p) == (i + j + k) / (2 * p)) {
              int32_t a = v[i + j], b = v[i + j + k];
              v[i + j] = a < b ? a : b;
              v[i + j + k] = a < b ? b : a;
            }
    for (int i = 0; i < n; ++i)
      out[base + i] = v[i];
  }
}

// Polynomial in Horner form, evaluated with 64-bit intermediates.
template <int Degree, uint32_t Seed> inline void horner(const int32_t *in, int32_t *out) {
  static constexpr Table<Degree + 1, Seed> c;
#pragma clang loop unroll_count(4)
  for (int i = 0; i < kBlock; ++i) {
    int64_t y = c.at[Degree];
#pragma clang loop unroll(full)
    for (int d = Degree - 1; d >= 0; --d)
      y = ((y * in[i]) >> 15) + c.at[d];
    out[i] = static_cast<int32_t>(y);
  }
}

// Activation through a table of 2^Log entries that the compiler fills.
template <int Log, uint32_t Seed> inline void activate(const int32_t *in, int32_t *out) {
  static constexpr Tanh<Log, Seed> table;
  for (int i = 0; i < kBlock; ++i) {
    int32_t at = (in[i] >> (15 - Log)) + (1 << (Log - 1));
    out[i] = table.at[at < 0 ? 0 : at >= 1 << Log ? (1 << Log) - 1 : at];
  }
}

// A histogram that is kept for ever, and the rank of each sample in it.
template <int Log, uint32_t Seed> inline void ranked(const int32_t *in, int32_t *out) {
  static int32_t bins[1 << Log];
  for (int i = 0; i < kBlock; ++i)
    bins[(in[i] ^ mix(Seed)) & ((1 << Log) - 1)] += 1;
  int32_t below[1 << Log];
  int32_t sum = 0;
  for (int b = 0; b < 1 << Log; ++b) {
    below[b] = sum;
    sum += bins[b];
  }
  for (int i = 0; i < kBlock; ++i)
    out[i] = below[(in[i] ^ mix(Seed)) & ((1 << Log) - 1)];
}

}  // namespace dsp
