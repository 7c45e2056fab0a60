// Winograd's transforms for F(2x2, 3x3): only additions, one vector of channels at a time.
#include "backends/cpu/kernels/winograd_f32.h"

#include "backends/cpu/kernels/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

// Rows of the input transform: d0 - d2, d1 + d2, d2 - d1, d1 - d3.
TENFOLD_INLINE void input_four(vf& a, vf& b, vf& c, vf& d) {
  const vf first = sub(a, c), last = sub(b, d), plus = add(b, c), minus = sub(c, b);
  a = first, b = plus, c = minus, d = last;
}

TENFOLD_INLINE void input_vector(const float* const* positions, std::int64_t channel, std::int64_t channels, float* values,
                                 std::int64_t step, bool whole) {
  vf d[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) d[i] = load_part(positions[i], channel, channels, whole);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) input_four(d[i], d[4 + i], d[8 + i], d[12 + i]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) input_four(d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) store_part(values + i * step, d[i], channel, channels, whole);
}

void input(const float* const* positions, std::int64_t channels, float* values, std::int64_t step) {
  std::int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) input_vector(positions, c, channels, values, step, true);
  if (c < channels) input_vector(positions, c, channels, values, step, false);
}

TENFOLD_INLINE void output_vector(const WinogradOutput& o, std::int64_t channel, bool whole) {
  vf top[4], bottom[4];  // columns of the 4x4 sums, folded to two rows
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const float* column = o.sums + i * o.step;
    const vf s0 = load_part(column, channel, o.channels, whole), s1 = load_part(column + 4 * o.step, channel, o.channels, whole);
    const vf s2 = load_part(column + 8 * o.step, channel, o.channels, whole),
             s3 = load_part(column + 12 * o.step, channel, o.channels, whole);
    top[i] = add(add(s0, s1), s2);
    bottom[i] = sub(sub(s1, s2), s3);
  }
  vf y[4] = {add(add(top[0], top[1]), top[2]), sub(sub(top[1], top[2]), top[3]), add(add(bottom[0], bottom[1]), bottom[2]),
             sub(sub(bottom[1], bottom[2]), bottom[3])};
  const GemmF32Finish* f = o.finish;
  if (f && f->bias) {
    const vf bias = load_part(f->bias, channel, o.channels, whole);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) y[i] = add(y[i], bias);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    if (!o.to[i]) continue;
    if (o.residual[i]) y[i] = add(y[i], load_part(o.residual[i], channel, o.channels, whole));
    if (f && f->clamp) y[i] = min(set1(f->high), max(set1(f->low), y[i]));
    store_part(o.to[i], y[i], channel, o.channels, whole);
  }
}

void output(const WinogradOutput& o) {
  std::int64_t c = 0;
  for (; c + kLanes <= o.channels; c += kLanes) output_vector(o, c, true);
  if (c < o.channels) output_vector(o, c, false);
}

}  // namespace

extern "C" const WinogradF32Kernels TENFOLD_TABLE(winograd_f32) = {input, output};

}  // namespace tenfold::backends::cpu
