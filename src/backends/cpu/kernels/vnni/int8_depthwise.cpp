// Depthwise int8 convolution of 3x3 kernels along a line: the three bytes of a column of the window lie together in a lane, so that
// vpdpbusd takes a column at once, and each column is put together once for all windows it lies in.
#include <immintrin.h>

#include "backends/cpu/kernels/int8/int8_depthwise.h"

namespace tenfold::backends::cpu {
namespace {

#define INLINE __attribute__((always_inline)) inline
constexpr int kBlock = kInt8LineBlock, kVectors = 4;

// Channels of a block that exist; almost always all of them, and stores under a mask are slow.
template <bool kAll>
struct Channels {
  __mmask32 mask;
  explicit Channels(std::int64_t left) : mask(kAll ? ~__mmask32{0} : (__mmask32{1} << left) - 1) {}
  INLINE __m256i load(const char* from) const {
    return kAll ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)) : _mm256_maskz_loadu_epi8(mask, from);
  }
  INLINE void store(char* to, __m256i v) const {
    if constexpr (kAll)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
    else if (mask == 0xFFFF)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(v));
    else
      _mm256_mask_storeu_epi8(to, mask, v);
  }
};

// The input of a line of windows, position by position.
template <bool kAll>
struct Columns {
  Channels<kAll> channels;
  __m256i flip;    // makes signed values unsigned
  const char *lines[3], *border;
  std::int64_t steps[3], position = 0, first, last;
  Columns(const Int8DepthwiseLine& line, std::int64_t channel)
      : channels(line.channels - channel),
        flip(_mm256_set1_epi8(line.is_signed ? static_cast<char>(0x80) : 0)),
        border(line.border + channel),
        first(line.first),
        last(line.last) {
    for (int i = 0; i < 3; ++i) lines[i] = line.lines[i] + channel, steps[i] = line.steps[i];
  }

  // Vector v holds channels [4 v, 4 v + 4) and 16 more of a block.
  INLINE void next(__m256i (&q)[kVectors]) {
    const bool outside = position < first || position >= last;
    const auto bytes = [&](int i) __attribute__((always_inline)) {
      const char* from = outside ? border : lines[i];
      lines[i] += steps[i];
      return _mm256_xor_si256(channels.load(from), flip);
    };
    const __m256i zero = _mm256_setzero_si256(), r0 = bytes(0), r1 = bytes(1), r2 = bytes(2);
    const __m256i a = _mm256_unpacklo_epi8(r0, r1), b = _mm256_unpackhi_epi8(r0, r1);
    const __m256i c = _mm256_unpacklo_epi8(r2, zero), d = _mm256_unpackhi_epi8(r2, zero);
    q[0] = _mm256_unpacklo_epi16(a, c), q[1] = _mm256_unpackhi_epi16(a, c);
    q[2] = _mm256_unpacklo_epi16(b, d), q[3] = _mm256_unpackhi_epi16(b, d);
    ++position;
  }
};

// Values of a block's channels in the order of vector v.
INLINE __m256i in_order(const void* values, int v) {
  const auto* from = reinterpret_cast<const __m128i*>(values) + v;
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(from)), _mm_loadu_si128(from + 4), 1);
}

// What becomes of the sums of a block: they are stored as they are, ...
struct Sums {
  static constexpr bool kWide = false;
  std::int32_t* out;
  Sums(const Int8DepthwiseLine&, std::int64_t channel, void* to) : out(static_cast<std::int32_t*>(to) + channel) {}
  template <class Channels>
  INLINE void put(const Channels&, std::int64_t at, const __m256i (&sum)[kVectors]) const {
    const auto store = [&](int i, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at) + i, v); };
    store(0, _mm256_permute2x128_si256(sum[0], sum[1], 0x20));
    store(1, _mm256_permute2x128_si256(sum[2], sum[3], 0x20));
    store(2, _mm256_permute2x128_si256(sum[0], sum[1], 0x31));
    store(3, _mm256_permute2x128_si256(sum[2], sum[3], 0x31));
  }
};

// Two blocks in vectors of 64 bytes, as bytes: fewer operations where the units for shorter vectors are busy, too.
INLINE __m512i wide_order(const void* values, int v) {
  const auto* from = reinterpret_cast<const __m128i*>(values) + v;
  const __m512i all = _mm512_castsi128_si512(_mm_loadu_si128(from));
  return _mm512_inserti32x4(_mm512_inserti32x4(_mm512_inserti32x4(all, _mm_loadu_si128(from + 4), 1), _mm_loadu_si128(from + 8), 2),
                            _mm_loadu_si128(from + 12), 3);
}

template <bool kSigned, bool kClamps>
struct WideBytes {
  char* out;
  __m512 scale[kVectors], bias[kVectors];
  __m512i lower, upper, zero;
  WideBytes(const Int8DepthwiseLine& line, std::int64_t channel, void* to) : out(static_cast<char*>(to) + channel) {
    const Int8EpilogueArgs& f = *line.epilogue;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      scale[v] = _mm512_castsi512_ps(wide_order(f.scale + channel, v));
      bias[v] = _mm512_castsi512_ps(wide_order(f.bias + channel, v));
    }
    lower = _mm512_set1_epi16(static_cast<short>(__builtin_nearbyintf(f.result.clamp.low)));
    upper = _mm512_set1_epi16(static_cast<short>(__builtin_nearbyintf(f.result.clamp.high)));
    zero = _mm512_set1_epi16(static_cast<short>(f.result.zero));
  }
  INLINE __m512i words(__m512i a, __m512i b, int v) const {
    const auto scaled = [&](__m512i x, int i) { return _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_cvtepi32_ps(x), scale[i], bias[i])); };
    __m512i y = _mm512_packs_epi32(scaled(a, v), scaled(b, v + 1));
    if constexpr (kClamps) y = _mm512_min_epi16(_mm512_max_epi16(y, lower), upper);
    return _mm512_adds_epi16(y, zero);
  }
  INLINE void put(std::int64_t at, const __m512i (&sum)[kVectors]) const {
    const __m512i first = words(sum[0], sum[1], 0), last = words(sum[2], sum[3], 2);
    _mm512_storeu_si512(out + at, kSigned ? _mm512_packs_epi16(first, last) : _mm512_packus_epi16(first, last));
  }
};

// The next position of a line of unsigned values: vector v holds channels [4 v, 4 v + 4) of each 16.
struct WideColumns {
  const char *lines[3], *border;
  std::int64_t steps[3], position = 0, first, last;
  WideColumns(const Int8DepthwiseLine& line, std::int64_t channel) : border(line.border + channel), first(line.first), last(line.last) {
    for (int i = 0; i < 3; ++i) lines[i] = line.lines[i] + channel, steps[i] = line.steps[i];
  }
  INLINE void next(__m512i (&q)[kVectors]) {
    const bool outside = position < first || position >= last;
    const auto bytes = [&](int i) __attribute__((always_inline)) {
      const char* from = outside ? border : lines[i];
      lines[i] += steps[i];
      return _mm512_loadu_si512(from);
    };
    const __m512i zero = _mm512_setzero_si512(), r0 = bytes(0), r1 = bytes(1), r2 = bytes(2);
    const __m512i a = _mm512_unpacklo_epi8(r0, r1), b = _mm512_unpackhi_epi8(r0, r1);
    const __m512i c = _mm512_unpacklo_epi8(r2, zero), d = _mm512_unpackhi_epi8(r2, zero);
    q[0] = _mm512_unpacklo_epi16(a, c), q[1] = _mm512_unpackhi_epi16(a, c);
    q[2] = _mm512_unpacklo_epi16(b, d), q[3] = _mm512_unpackhi_epi16(b, d);
    ++position;
  }
};

template <class Epilogue, int kStride>
void wide_block(const Int8DepthwiseLine& line, std::int64_t channel, std::int64_t count, void* out, std::int64_t out_stride) {
  WideColumns columns(line, channel);
  const Epilogue epilogue(line, channel, out);
  const auto* weights = reinterpret_cast<const __m256i*>(line.weights + channel * kInt8LineBytes);
  __m512i w[3][kVectors], q[3][kVectors], start[kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < 3 * kVectors; ++i)   // of either block
    w[i / kVectors][i % kVectors] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(weights + i)),
                                                       _mm256_loadu_si256(weights + 3 * kVectors + i), 1);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) start[v] = wide_order(line.start + channel, v);
#pragma GCC unroll 2
  for (int i = 0; i < 3 - kStride; ++i) columns.next(q[i + kStride]);
  for (std::int64_t p = 0; p < count; ++p) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      q[0][v] = q[kStride][v];
      if (kStride == 1) q[1][v] = q[2][v];
    }
#pragma GCC unroll 2
    for (int i = 3 - kStride; i < 3; ++i) columns.next(q[i]);
    __m512i sum[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sum[v] = _mm512_dpbusd_epi32(start[v], q[0][v], w[0][v]);
      sum[v] = _mm512_dpbusd_epi32(sum[v], q[1][v], w[1][v]);
      sum[v] = _mm512_dpbusd_epi32(sum[v], q[2][v], w[2][v]);
    }
    epilogue.put(p * out_stride, sum);
  }
}

// ... or bytes, the epilogue applied; packing brings channels into their order.
template <bool kSigned, bool kClamps>
struct Bytes {
  static constexpr bool kWide = true;
  using Wide = WideBytes<kSigned, kClamps>;
  char* out;
  __m256 scale[kVectors], bias[kVectors];
  __m256i lower, upper, zero;
  Bytes(const Int8DepthwiseLine& line, std::int64_t channel, void* to) : out(static_cast<char*>(to) + channel) {
    const Int8EpilogueArgs& f = *line.epilogue;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      scale[v] = _mm256_castsi256_ps(in_order(f.scale + channel, v));
      bias[v] = _mm256_castsi256_ps(in_order(f.bias + channel, v));
    }
    lower = _mm256_set1_epi16(static_cast<short>(__builtin_nearbyintf(f.result.clamp.low)));
    upper = _mm256_set1_epi16(static_cast<short>(__builtin_nearbyintf(f.result.clamp.high)));
    zero = _mm256_set1_epi16(static_cast<short>(f.result.zero));
  }
  INLINE __m256i words(__m256i a, __m256i b, int v) const {
    const auto scaled = [&](__m256i x, int i) { return _mm256_cvtps_epi32(_mm256_fmadd_ps(_mm256_cvtepi32_ps(x), scale[i], bias[i])); };
    __m256i y = _mm256_packs_epi32(scaled(a, v), scaled(b, v + 1));
    if constexpr (kClamps) y = _mm256_min_epi16(_mm256_max_epi16(y, lower), upper);
    return _mm256_adds_epi16(y, zero);
  }
  template <class Channels>
  INLINE void put(const Channels& channels, std::int64_t at, const __m256i (&sum)[kVectors]) const {
    const __m256i first = words(sum[0], sum[1], 0), last = words(sum[2], sum[3], 2);
    channels.store(out + at, kSigned ? _mm256_packs_epi16(first, last) : _mm256_packus_epi16(first, last));
  }
};

template <class Epilogue, int kStride, bool kAll>
INLINE void block(const Int8DepthwiseLine& line, std::int64_t channel, std::int64_t count, void* out, std::int64_t out_stride) {
  Columns<kAll> columns(line, channel);
  const Epilogue epilogue(line, channel, out);
  const auto* weights = reinterpret_cast<const __m256i*>(line.weights + channel * kInt8LineBytes);
  __m256i w[3][kVectors], q[3][kVectors], start[kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < 3 * kVectors; ++i) w[i / kVectors][i % kVectors] = _mm256_loadu_si256(weights + i);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) start[v] = in_order(line.start + channel, v);
#pragma GCC unroll 2
  for (int i = 0; i < 3 - kStride; ++i) columns.next(q[i + kStride]);
  for (std::int64_t p = 0; p < count; ++p) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      q[0][v] = q[kStride][v];
      if (kStride == 1) q[1][v] = q[2][v];
    }
#pragma GCC unroll 2
    for (int i = 3 - kStride; i < 3; ++i) columns.next(q[i]);
    __m256i sum[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sum[v] = _mm256_dpbusd_epi32(start[v], q[0][v], w[0][v]);
      sum[v] = _mm256_dpbusd_epi32(sum[v], q[1][v], w[1][v]);
      sum[v] = _mm256_dpbusd_epi32(sum[v], q[2][v], w[2][v]);
    }
    epilogue.put(columns.channels, p * out_stride, sum);
  }
}

template <class Epilogue, int kStride>
void blocks_of(const Int8DepthwiseLine& line, std::int64_t count, void* out, std::int64_t out_stride) {
  std::int64_t channel = 0;
  if constexpr (Epilogue::kWide) {
    if (!line.is_signed)
      for (; channel + 2 * kBlock <= line.channels; channel += 2 * kBlock)
        wide_block<typename Epilogue::Wide, kStride>(line, channel, count, out, out_stride);
  }
  for (; channel + kBlock <= line.channels; channel += kBlock) block<Epilogue, kStride, true>(line, channel, count, out, out_stride);
  if (channel < line.channels) block<Epilogue, kStride, false>(line, channel, count, out, out_stride);
}

template <class Epilogue>
void blocks(const Int8DepthwiseLine& line, std::int64_t count, std::int64_t stride, void* out, std::int64_t out_stride) {
  (stride == 1 ? blocks_of<Epilogue, 1> : blocks_of<Epilogue, 2>)(line, count, out, out_stride);
}

void run(const Int8DepthwiseLine& line, std::int64_t count, std::int64_t stride, void* out, std::int64_t out_stride) {
  if (line.epilogue == nullptr) return blocks<Sums>(line, count, stride, out, out_stride);
  const Int8EpilogueArgs& f = *line.epilogue;
  const bool to_signed = f.result.type == Int8Type::i8;
  const float bottom = (to_signed ? -128.0f : 0.0f) - f.result.zero, top = bottom + 255;
  if (f.result.clamp.low > f.result.clamp.high || (f.result.clamp.low <= bottom && f.result.clamp.high >= top))
    (to_signed ? blocks<Bytes<true, false>> : blocks<Bytes<false, false>>)(line, count, stride, out, out_stride);
  else
    (to_signed ? blocks<Bytes<true, true>> : blocks<Bytes<false, true>>)(line, count, stride, out, out_stride);
}

}  // namespace

extern "C" const Int8DepthwiseLineFunction TENFOLD_TABLE(int8_depthwise_line) = run;

}  // namespace tenfold::backends::cpu
