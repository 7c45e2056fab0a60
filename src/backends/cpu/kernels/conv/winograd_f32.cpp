// Winograd's transforms, one vector of channels at a time. A transform of several dims is the one of a line along each of them.
#include "backends/cpu/kernels/conv/winograd_f32.h"

#include "backends/cpu/kernels/gemm/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

// A line of input positions to values, for interpolation at 0, 1, -1 and infinity.
TENFOLD_INLINE void input_line(vf (&d)[4]) {
  const vf first = sub(d[0], d[2]), plus = add(d[1], d[2]), minus = sub(d[2], d[1]), last = sub(d[1], d[3]);
  d[0] = first, d[1] = plus, d[2] = minus, d[3] = last;
}
// The same at 2 and -2 too: 4 d0 - 5 d2 + d4; -+4 d1 - 4 d2 +- d3 + d4; -+2 d1 - d2 +- 2 d3 + d4; 4 d1 - 5 d3 + d5.
TENFOLD_INLINE void input_line(vf (&d)[6]) {
  const vf two = set1(2), four = set1(4), five = set1(5);
  const vf first = fma(four, d[0], fnma(five, d[2], d[4])), last = fma(four, d[1], fnma(five, d[3], d[5]));
  const vf even1 = fnma(four, d[2], d[4]), odd1 = fnma(four, d[1], d[3]);
  const vf even2 = sub(d[4], d[2]), odd2 = mul(two, sub(d[3], d[1]));
  d[0] = first, d[1] = add(even1, odd1), d[2] = sub(even1, odd1);
  d[3] = add(even2, odd2), d[4] = sub(even2, odd2), d[5] = last;
}
// A line of sums to results.
TENFOLD_INLINE void output_line(const vf (&s)[4], vf (&y)[2]) {
  y[0] = add(add(s[0], s[1]), s[2]);
  y[1] = sub(sub(s[1], s[2]), s[3]);
}
TENFOLD_INLINE void output_line(const vf (&s)[6], vf (&y)[4]) {
  const vf plus1 = add(s[1], s[2]), minus1 = sub(s[1], s[2]), plus2 = add(s[3], s[4]), minus2 = sub(s[3], s[4]);
  y[0] = add(add(s[0], plus1), plus2);
  y[1] = fma(set1(2), minus2, minus1);
  y[2] = fma(set1(4), plus2, plus1);
  y[3] = add(fma(set1(8), minus2, minus1), s[5]);
}

// kSide x kSide positions get(i), values to put(i, value).
template <int kSide, class Get, class Put>
TENFOLD_INLINE void input_plane(Get&& get, Put&& put) {
  vf d[kSide][kSide];  // [column][row]
#pragma GCC unroll 6
  for (int x = 0; x < kSide; ++x) {
#pragma GCC unroll 6
    for (int y = 0; y < kSide; ++y) d[x][y] = get(y * kSide + x);
    input_line(d[x]);
  }
#pragma GCC unroll 6
  for (int y = 0; y < kSide; ++y) {
    vf row[kSide];
#pragma GCC unroll 6
    for (int x = 0; x < kSide; ++x) row[x] = d[x][y];
    input_line(row);
#pragma GCC unroll 6
    for (int x = 0; x < kSide; ++x) put(y * kSide + x, row[x]);
  }
}

// kSide x kSide sums get(i) to (kSide - 2)^2 results.
template <int kSide, class Get>
TENFOLD_INLINE void output_plane(Get&& get, vf (&results)[(kSide - 2) * (kSide - 2)]) {
  constexpr int kTile = kSide - 2;
  vf folded[kTile][kSide];
#pragma GCC unroll 6
  for (int x = 0; x < kSide; ++x) {
    vf column[kSide], y[kTile];
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) column[i] = get(i * kSide + x);
    output_line(column, y);
#pragma GCC unroll 4
    for (int i = 0; i < kTile; ++i) folded[i][x] = y[i];
  }
#pragma GCC unroll 4
  for (int i = 0; i < kTile; ++i) {
    vf y[kTile];
    output_line(folded[i], y);
#pragma GCC unroll 4
    for (int x = 0; x < kTile; ++x) results[i * kTile + x] = y[x];
  }
}

template <int kSide>
struct Plane {
  static constexpr int kResults = (kSide - 2) * (kSide - 2);
  template <class Get, class Put>
  TENFOLD_INLINE void input(Get&& get, Put&& put) {
    input_plane<kSide>(get, put);
  }
  template <class Get>
  TENFOLD_INLINE void output(Get&& get, vf (&results)[kResults]) {
    output_plane<kSide>(get, results);
  }
};
// Four planes: each value of the line across them needs two of the planes only.
struct Volume {
  static constexpr int kResults = 8;
  template <class Get, class Put>
  TENFOLD_INLINE void input(Get&& get, Put&& put) {
    input_plane<4>([&](int i) { return sub(get(i), get(32 + i)); }, [&](int i, vf v) { put(i, v); });
    input_plane<4>([&](int i) { return add(get(16 + i), get(32 + i)); }, [&](int i, vf v) { put(16 + i, v); });
    input_plane<4>([&](int i) { return sub(get(32 + i), get(16 + i)); }, [&](int i, vf v) { put(32 + i, v); });
    input_plane<4>([&](int i) { return sub(get(16 + i), get(48 + i)); }, [&](int i, vf v) { put(48 + i, v); });
  }
  template <class Get>
  TENFOLD_INLINE void output(Get&& get, vf (&results)[kResults]) {
    vf plane[4];
#pragma GCC unroll 4
    for (int z = 0; z < 4; ++z) {
      output_plane<4>([&](int i) { return get(z * 16 + i); }, plane);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        if (z == 0) results[i] = plane[i];
        if (z == 1 || z == 2) results[i] = add(results[i], plane[i]);
        if (z == 1) results[4 + i] = plane[i];
        if (z >= 2) results[4 + i] = sub(results[4 + i], plane[i]);
      }
    }
  }
};

template <class Form>
void input(const float* const* positions, std::int64_t channels, float* values, std::int64_t step) {
  for (std::int64_t c = 0; c < channels; c += kLanes) {
    if (c + kLanes <= channels)
      Form::input([&](int i) { return load(positions[i] + c); }, [&](int i, vf v) { store(values + i * step + c, v); });
    else
      Form::input([&](int i) { return load_n(positions[i] + c, channels - c); },
                  [&](int i, vf v) { store_n(values + i * step + c, v, channels - c); });
  }
}

template <class Form>
TENFOLD_INLINE void output_vector(const WinogradOutput& o, std::int64_t channel, bool whole) {
  vf y[Form::kResults];
  Form::output([&](int i) { return load_part(o.sums + i * o.step, channel, o.channels, whole); }, y);
  const GemmF32EpilogueArgs* f = o.epilogue;
  const vf bias = f && f->bias ? load_part(f->bias, channel, o.channels, whole) : zero();
#pragma GCC unroll 16
  for (int i = 0; i < Form::kResults; ++i) {
    if (!o.to[i]) continue;
    y[i] = add(y[i], bias);
    if (o.residual[i]) y[i] = add(y[i], load_part(o.residual[i], channel, o.channels, whole));
    if (f && f->clamp) y[i] = min(set1(f->high), max(set1(f->low), y[i]));
    store_part(o.to[i], y[i], channel, o.channels, whole);
  }
}

template <class Form>
void output(const WinogradOutput& o) {
  std::int64_t c = 0;
  for (; c + kLanes <= o.channels; c += kLanes) output_vector<Form>(o, c, true);
  if (c < o.channels) output_vector<Form>(o, c, false);
}

}  // namespace

extern "C" const WinogradF32Kernels TENFOLD_TABLE(winograd_f32) = {
    {{input<Plane<4>>, output<Plane<4>>}, {input<Plane<6>>, output<Plane<6>>}, {input<Volume>, output<Volume>}}};

}  // namespace tenfold::backends::cpu
