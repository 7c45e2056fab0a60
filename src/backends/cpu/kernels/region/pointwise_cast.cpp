// Conversions between lane types, rounding to integers with saturation, the 16-bit float formats, and plain copies.
#include <type_traits>

#include "backends/cpu/kernels/region/pointwise.h"
#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

// One element, as ONNX Cast has it: floats truncate towards zero; out of range, int64 saturates and narrower types wrap.
template <class To, class From>
inline To cast_of(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (x != x) return To(0);
    if constexpr (std::is_same_v<To, std::uint64_t>) {
      if (x >= From(0x1p64)) return ~To(0);
      if (x >= From(0x1p63)) return static_cast<To>(x);
    }
    if (x >= From(0x1p63)) return static_cast<To>(INT64_MAX);
    if (x < From(-0x1p63)) return static_cast<To>(INT64_MIN);
    return static_cast<To>(static_cast<std::int64_t>(x));
  } else {
    return static_cast<To>(x);
  }
}
template <class T>
constexpr T kMin = std::is_signed_v<T> ? static_cast<T>(std::uint64_t{1} << (sizeof(T) * 8 - 1)) : T(0);
template <class T>
constexpr T kMax = static_cast<T>(~kMin<T>);
template <class To, class From>
inline To saturate_of(From x) {
  if constexpr (std::is_floating_point_v<From>) {
    const From r =
        sizeof(From) == 4 ? static_cast<From>(__builtin_nearbyintf(static_cast<float>(x))) : static_cast<From>(__builtin_nearbyint(x));
    if (r != r) return To(0);
    constexpr double kEdge = std::is_signed_v<To>
                                 ? (sizeof(To) == 8 ? 0x1p63 : static_cast<double>(std::uint64_t{1} << (sizeof(To) * 8 - 1)))
                                 : (sizeof(To) == 8 ? 0x1p64 : static_cast<double>(std::uint64_t{1} << (sizeof(To) * 8 % 64)));
    if (r >= From(kEdge)) return kMax<To>;
    if (r <= From(std::is_signed_v<To> ? -kEdge : 0.)) return kMin<To>;
    return static_cast<To>(r);
  } else if constexpr (std::is_signed_v<From>) {
    if constexpr (std::is_signed_v<To>)
      return x < kMin<To> ? kMin<To> : x > kMax<To> ? kMax<To> : static_cast<To>(x);
    else
      return x < 0 ? To(0) : static_cast<std::uint64_t>(x) > kMax<To> ? kMax<To> : static_cast<To>(x);
  } else {
    return static_cast<std::uint64_t>(x) > static_cast<std::uint64_t>(kMax<To>) ? kMax<To> : static_cast<To>(x);
  }
}
enum class Kind { cast, saturate, test };
template <Kind kKind, class To, class From>
inline To convert(From x) {
  if constexpr (kKind == Kind::cast)
    return cast_of<To>(x);
  else if constexpr (kKind == Kind::saturate)
    return saturate_of<To>(x);
  else
    return static_cast<To>(x != From(0));
}

template <Kind kKind, class To, class From>
void map(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    To* o = static_cast<To*>(out) + r * out_row;
    const From* a = static_cast<const From*>(args[0].data) + r * args[0].row_stride;
    if (uniform & 1) {
      const To value = convert<kKind, To>(*a);
      for (int64_t c = 0; c < cols; ++c) o[c] = value;
    } else if constexpr (sizeof(To) == sizeof(From)) {
#pragma GCC ivdep
      for (int64_t c = 0; c < cols; ++c) o[c] = convert<kKind, To>(a[c]);
    } else {
      for (int64_t c = 0; c < cols; ++c) o[c] = convert<kKind, To>(a[c]);
    }
  }
}

// Conversions on vectors of 32-bit lanes: V::get reads kLanes elements, V::put writes them. Tails go through a small buffer.
template <class V>
void map_vector(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  using From = typename V::From;
  using To = typename V::To;
  for (int64_t r = 0; r < rows; ++r) {
    To* o = static_cast<To*>(out) + r * out_row;
    const From* a = static_cast<const From*>(args[0].data) + r * args[0].row_stride;
    From in[kLanes] = {};
    To result[kLanes];
    if (uniform & 1) {
      in[0] = *a;
      V::put(result, V::get(in));
      for (int64_t c = 0; c < cols; ++c) o[c] = result[0];
      continue;
    }
    int64_t c = 0;
    for (; c + kLanes <= cols; c += kLanes) V::put(o + c, V::get(a + c));
    const int64_t rest = cols - c;
    for (int64_t i = 0; i < rest; ++i) in[i] = a[c + i];
    if (rest) V::put(result, V::get(in));
    for (int64_t i = 0; i < rest; ++i) o[c + i] = result[i];
  }
}
struct I32ToF32 {
  using From = std::int32_t;
  using To = float;
  TENFOLD_INLINE vf get(const From* p) { return to_float(loadi(p)); }
  TENFOLD_INLINE void put(To* p, vf v) { store(p, v); }
};
struct U8ToF32 {
  using From = std::uint8_t;
  using To = float;
  TENFOLD_INLINE vf get(const From* p) { return to_float(widen_u8(p)); }
  TENFOLD_INLINE void put(To* p, vf v) { store(p, v); }
};
struct I8ToF32 {
  using From = std::int8_t;
  using To = float;
  TENFOLD_INLINE vf get(const From* p) { return to_float(widen_i8(p)); }
  TENFOLD_INLINE void put(To* p, vf v) { store(p, v); }
};
template <class T>
struct F32ToByte {  // rounds and saturates; NaN becomes 0
  using From = float;
  using To = T;
  TENFOLD_INLINE vi get(const From* p) {
    const vf x = load(p);
    const vf ordered = blend(x, zero(), compare<_CMP_UNORD_Q>(x, x));
    return to_int(min(set1(float(kMax<T>)), max(set1(float(kMin<T>)), ordered)));
  }
  TENFOLD_INLINE void put(To* p, vi v) { narrow(reinterpret_cast<std::uint8_t*>(p), v); }
};
template <class T>
struct I32ToByte {
  using From = std::int32_t;
  using To = T;
  TENFOLD_INLINE vi get(const From* p) { return mini(set1i(kMax<T>), maxi(set1i(kMin<T>), loadi(p))); }
  TENFOLD_INLINE void put(To* p, vi v) { narrow(reinterpret_cast<std::uint8_t*>(p), v); }
};

TENFOLD_INLINE vf bf16_bits(const std::uint16_t* p) { return as_float(shift_left<16>(widen_u16(p))); }
TENFOLD_INLINE vi round_bf16(vf x) {  // to nearest even, in the upper half; NaN keeps a set mantissa bit
  const vi bits = as_int(x);
  const vi odd = andi(shift_right<16>(bits), set1i(1));
  const vf rounded = as_float(addi(bits, addi(odd, set1i(0x7fff))));
  const vf quiet = bits_or(x, as_float(set1i(0x00400000)));
  return as_int(bits_and(blend(rounded, quiet, compare<_CMP_UNORD_Q>(x, x)), as_float(set1i(static_cast<std::int32_t>(0xffff0000u)))));
}
struct HalfToF32 {
  using From = std::uint16_t;
  using To = float;
  TENFOLD_INLINE vf get(const From* p) { return load_half(p); }
  TENFOLD_INLINE void put(To* p, vf v) { store(p, v); }
};
struct F32ToHalf {
  using From = float;
  using To = std::uint16_t;
  TENFOLD_INLINE vf get(const From* p) { return load(p); }
  TENFOLD_INLINE void put(To* p, vf v) { store_half(p, v); }
};
struct RoundToHalf {
  using From = float;
  using To = float;
  TENFOLD_INLINE vf get(const From* p) {
    std::uint16_t t[kLanes];
    store_half(t, load(p));
    return load_half(t);
  }
  TENFOLD_INLINE void put(To* p, vf v) { store(p, v); }
};
struct Bf16ToF32 {
  using From = std::uint16_t;
  using To = float;
  TENFOLD_INLINE vf get(const From* p) { return bf16_bits(p); }
  TENFOLD_INLINE void put(To* p, vf v) { store(p, v); }
};
struct F32ToBf16 {
  using From = float;
  using To = std::uint16_t;
  TENFOLD_INLINE vi get(const From* p) { return shift_right<16>(round_bf16(load(p))); }
  TENFOLD_INLINE void put(To* p, vi v) { narrow16(p, v); }
};
struct RoundToBf16 {
  using From = float;
  using To = float;
  TENFOLD_INLINE vf get(const From* p) { return as_float(round_bf16(load(p))); }
  TENFOLD_INLINE void put(To* p, vf v) { store(p, v); }
};

template <Kind kKind, class From>
constexpr void fill_from(PointwiseKernel* t) {
  const auto set = [t](LaneType lane, PointwiseKernel kernel) { t[static_cast<int>(lane)] = kernel; };
  if constexpr (kKind == Kind::cast) {
    set(LaneType::f32, map<kKind, float, From>);
    set(LaneType::f64, map<kKind, double, From>);
  }
  set(LaneType::i64, map<kKind, std::int64_t, From>);
  set(LaneType::i32, map<kKind, std::int32_t, From>);
  set(LaneType::i16, map<kKind, std::int16_t, From>);
  set(LaneType::i8, map<kKind, std::int8_t, From>);
  set(LaneType::u64, map<kKind, std::uint64_t, From>);
  set(LaneType::u32, map<kKind, std::uint32_t, From>);
  set(LaneType::u16, map<kKind, std::uint16_t, From>);
  set(LaneType::u8, map<kKind, std::uint8_t, From>);
}
template <class From>
constexpr void fill(PointwiseCastKernels& t, LaneType from) {
  const int f = static_cast<int>(from);
  fill_from<Kind::cast, From>(t.cast[f]);
  fill_from<Kind::saturate, From>(t.saturate[f]);
  t.to_boolean[f] = map<Kind::test, std::uint8_t, From>;
}
constexpr PointwiseCastKernels table() {
  PointwiseCastKernels t{};
  fill<float>(t, LaneType::f32);
  fill<double>(t, LaneType::f64);
  fill<std::int64_t>(t, LaneType::i64);
  fill<std::int32_t>(t, LaneType::i32);
  fill<std::int16_t>(t, LaneType::i16);
  fill<std::int8_t>(t, LaneType::i8);
  fill<std::uint64_t>(t, LaneType::u64);
  fill<std::uint32_t>(t, LaneType::u32);
  fill<std::uint16_t>(t, LaneType::u16);
  fill<std::uint8_t>(t, LaneType::u8);
  const auto lane = [](LaneType l) { return static_cast<int>(l); };
  t.cast[lane(LaneType::i32)][lane(LaneType::f32)] = map_vector<I32ToF32>;
  t.cast[lane(LaneType::u8)][lane(LaneType::f32)] = map_vector<U8ToF32>;
  t.cast[lane(LaneType::i8)][lane(LaneType::f32)] = map_vector<I8ToF32>;
  t.saturate[lane(LaneType::f32)][lane(LaneType::u8)] = map_vector<F32ToByte<std::uint8_t>>;
  t.saturate[lane(LaneType::f32)][lane(LaneType::i8)] = map_vector<F32ToByte<std::int8_t>>;
  t.saturate[lane(LaneType::i32)][lane(LaneType::u8)] = map_vector<I32ToByte<std::uint8_t>>;
  t.saturate[lane(LaneType::i32)][lane(LaneType::i8)] = map_vector<I32ToByte<std::int8_t>>;
  t.half_to_f32 = map_vector<HalfToF32>;
  t.f32_to_half = map_vector<F32ToHalf>;
  t.round_to_half = map_vector<RoundToHalf>;
  t.bf16_to_f32 = map_vector<Bf16ToF32>;
  t.f32_to_bf16 = map_vector<F32ToBf16>;
  t.round_to_bf16 = map_vector<RoundToBf16>;
  t.copy[0] = map<Kind::cast, std::uint8_t, std::uint8_t>;
  t.copy[1] = map<Kind::cast, std::uint16_t, std::uint16_t>;
  t.copy[2] = map<Kind::cast, std::uint32_t, std::uint32_t>;
  t.copy[3] = map<Kind::cast, std::uint64_t, std::uint64_t>;
  return t;
}

}  // namespace

extern "C" constinit const PointwiseCastKernels TENFOLD_TABLE(pointwise_cast) = table();

}  // namespace tenfold::backends::cpu
