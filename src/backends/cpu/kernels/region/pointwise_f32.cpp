// Pointwise loops on f32: SIMD in columns, tails by masks so that every element sees the same arithmetic.
#include "backends/cpu/kernels/region/pointwise.h"
#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/math.h"
#include "backends/cpu/simd/quotient.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

// How an argument is read and the result written, by memory type.
template <class T>
struct Memory;
template <>
struct Memory<float> {
  TENFOLD_INLINE vf read(const float* p) { return simd::load(p); }
  TENFOLD_INLINE vf read_n(const float* p, int64_t n) { return load_n(p, n); }
  TENFOLD_INLINE vf read_1(const float* p) { return set1(*p); }
  TENFOLD_INLINE void write(float* p, vf v) { simd::store(p, v); }
  TENFOLD_INLINE void write_n(float* p, vf v, int64_t n) { store_n(p, v, n); }
};
template <>
struct Memory<std::int32_t> {
  TENFOLD_INLINE vf read(const std::int32_t* p) { return to_float(loadi(p)); }
  TENFOLD_INLINE vf read_n(const std::int32_t* p, int64_t n) { return to_float(loadi_n(p, n)); }
  TENFOLD_INLINE vf read_1(const std::int32_t* p) { return set1(static_cast<float>(*p)); }
};
template <>
struct Memory<bool> {  // lanes are masks
  TENFOLD_INLINE vmask read(const bool* p) { return nonzero(widen_u8(reinterpret_cast<const std::uint8_t*>(p))); }
  TENFOLD_INLINE vmask read_n(const bool* p, int64_t n) {
    std::uint8_t t[kLanes] = {};
    for (int64_t i = 0; i < n; ++i) t[i] = p[i];
    return nonzero(widen_u8(t));
  }
  TENFOLD_INLINE vmask read_1(const bool* p) { return nonzero(set1i(*p)); }
  TENFOLD_INLINE void write(bool* p, vmask m) { narrow(reinterpret_cast<std::uint8_t*>(p), mask_to_01(m)); }
  TENFOLD_INLINE void write_n(bool* p, vmask m, int64_t n) {
    std::uint8_t t[kLanes];
    narrow(t, mask_to_01(m));
    for (int64_t i = 0; i < n; ++i) p[i] = t[i] != 0;
  }
};

template <class T, bool kUniform>
struct Reader {
  using M = Memory<T>;
  decltype(M::read_1(nullptr)) first;
  const T* p;
  TENFOLD_INLINE Reader at(const T* p) {
    Reader reader;
    reader.p = p;
    if constexpr (kUniform) reader.first = M::read_1(p);
    return reader;
  }
  __attribute__((always_inline)) auto get(int64_t c) const {
    if constexpr (kUniform)
      return first;
    else
      return M::read(p + c);
  }
  __attribute__((always_inline)) auto get_n(int64_t c, int64_t n) const {
    if constexpr (kUniform)
      return first;
    else
      return M::read_n(p + c, n);
  }
};

// One loop for every operation: F::run on vectors, R the result's memory type, A, B, C those of the arguments.
template <class F, class R, class A, bool kA>
void map1(void* out, int64_t out_row, const PointwiseArg* args, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    R* o = static_cast<R*>(out) + r * out_row;
    const auto a = Reader<A, kA>::at(static_cast<const A*>(args[0].data) + r * args[0].row_stride);
    int64_t c = 0;
    for (; c + kLanes <= cols; c += kLanes) Memory<R>::write(o + c, F::run(a.get(c)));
    if (c < cols) Memory<R>::write_n(o + c, F::run(a.get_n(c, cols - c)), cols - c);
  }
}
template <class F, class R, class A, class B, bool kA, bool kB>
void map2(void* out, int64_t out_row, const PointwiseArg* args, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    R* o = static_cast<R*>(out) + r * out_row;
    const auto a = Reader<A, kA>::at(static_cast<const A*>(args[0].data) + r * args[0].row_stride);
    const auto b = Reader<B, kB>::at(static_cast<const B*>(args[1].data) + r * args[1].row_stride);
    int64_t c = 0;
    for (; c + kLanes <= cols; c += kLanes) Memory<R>::write(o + c, F::run(a.get(c), b.get(c)));
    if (c < cols) Memory<R>::write_n(o + c, F::run(a.get_n(c, cols - c), b.get_n(c, cols - c)), cols - c);
  }
}
template <class F, class R, class A, class B, class C, bool kA, bool kB, bool kC>
void map3(void* out, int64_t out_row, const PointwiseArg* args, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    R* o = static_cast<R*>(out) + r * out_row;
    const auto a = Reader<A, kA>::at(static_cast<const A*>(args[0].data) + r * args[0].row_stride);
    const auto b = Reader<B, kB>::at(static_cast<const B*>(args[1].data) + r * args[1].row_stride);
    const auto x = Reader<C, kC>::at(static_cast<const C*>(args[2].data) + r * args[2].row_stride);
    int64_t c = 0;
    for (; c + kLanes <= cols; c += kLanes) Memory<R>::write(o + c, F::run(a.get(c), b.get(c), x.get(c)));
    if (c < cols) {
      const int64_t n = cols - c;
      Memory<R>::write_n(o + c, F::run(a.get_n(c, n), b.get_n(c, n), x.get_n(c, n)), n);
    }
  }
}

template <class F, class R = float, class A = float>
void unary(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  (uniform & 1 ? map1<F, R, A, true> : map1<F, R, A, false>)(out, out_row, args, rows, cols);
}
template <class F, class R = float, class A = float, class B = float>
void binary(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  switch (uniform & 3) {
    case 0: return map2<F, R, A, B, false, false>(out, out_row, args, rows, cols);
    case 1: return map2<F, R, A, B, true, false>(out, out_row, args, rows, cols);
    case 2: return map2<F, R, A, B, false, true>(out, out_row, args, rows, cols);
    default: return map2<F, R, A, B, true, true>(out, out_row, args, rows, cols);
  }
}
template <class F, class A = float, class B = float, class C = float>
void ternary(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  switch (uniform & 7) {
    case 0: return map3<F, float, A, B, C, false, false, false>(out, out_row, args, rows, cols);
    case 1: return map3<F, float, A, B, C, true, false, false>(out, out_row, args, rows, cols);
    case 2: return map3<F, float, A, B, C, false, true, false>(out, out_row, args, rows, cols);
    case 3: return map3<F, float, A, B, C, true, true, false>(out, out_row, args, rows, cols);
    case 4: return map3<F, float, A, B, C, false, false, true>(out, out_row, args, rows, cols);
    case 5: return map3<F, float, A, B, C, true, false, true>(out, out_row, args, rows, cols);
    case 6: return map3<F, float, A, B, C, false, true, true>(out, out_row, args, rows, cols);
    default: return map3<F, float, A, B, C, true, true, true>(out, out_row, args, rows, cols);
  }
}

#define TENFOLD_F1(Name, ...)                             \
  struct Name {                                           \
    TENFOLD_INLINE auto run(vf a) { return __VA_ARGS__; } \
  }
#define TENFOLD_F2(Name, ...)                                   \
  struct Name {                                                 \
    TENFOLD_INLINE auto run(vf a, vf b) { return __VA_ARGS__; } \
  }
#define TENFOLD_F3(Name, ...)                                         \
  struct Name {                                                       \
    TENFOLD_INLINE auto run(vf a, vf b, vf c) { return __VA_ARGS__; } \
  }
TENFOLD_F1(Neg, bits_xor(a, sign_bits()));
TENFOLD_F1(Abs, simd::abs(a));
struct Sign {
  TENFOLD_INLINE vf run(vf a) {
    const vf one = bits_or(set1(1.f), bits_and(a, sign_bits()));
    const vf r = blend(one, zero(), compare<_CMP_EQ_OQ>(a, zero()));
    return blend(r, a, compare<_CMP_UNORD_Q>(a, a));
  }
};
TENFOLD_F1(Sqrt, simd::sqrt(a));
TENFOLD_F1(Rsqrt, div(set1(1.f), simd::sqrt(a)));
TENFOLD_F1(Reciprocal, div(set1(1.f), a));
TENFOLD_F1(Exp, simd::exp(a));
TENFOLD_F1(Log, simd::log(a));
TENFOLD_F1(Erf, simd::erf(a));
TENFOLD_F1(Tanh, simd::tanh(a));
TENFOLD_F1(Sigmoid, simd::sigmoid(a));
TENFOLD_F1(Floor, simd::floor(a));
TENFOLD_F1(Ceil, simd::ceil(a));
TENFOLD_F1(RoundEven, simd::round_even(a));
TENFOLD_F1(GeluErf, simd::gelu_erf(a));
TENFOLD_F1(GeluTanh, simd::gelu_tanh(a));
TENFOLD_F1(Silu, simd::silu(a));
TENFOLD_F1(IsNan, compare<_CMP_UNORD_Q>(a, a));
TENFOLD_F1(IsInf, compare<_CMP_EQ_OQ>(simd::abs(a), as_float(set1i(0x7f800000))));
TENFOLD_F2(Add, add(a, b));
TENFOLD_F2(Sub, sub(a, b));
TENFOLD_F2(Mul, mul(a, b));
TENFOLD_F2(Div, div(a, b));
void divide(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  const auto divisor = [&](int64_t r) { return *(static_cast<const float*>(args[1].data) + r * args[1].row_stride); };
  bool by_product = (uniform & 3) == 2;
  for (int64_t r = 0; r < rows && by_product; ++r) by_product = inverts(divisor(r));
  if (!by_product) return binary<Div>(out, out_row, args, uniform, rows, cols);
  for (int64_t r = 0; r < rows; ++r) {
    const auto* a = static_cast<const float*>(args[0].data) + r * args[0].row_stride;
    auto* o = static_cast<float*>(out) + r * out_row;
    const vf by = set1(divisor(r)), inverse = set1(1 / divisor(r));
    int64_t c = 0;
    for (; c + kLanes <= cols; c += kLanes) store(o + c, quotient(load(a + c), by, inverse));
    if (c < cols) store_n(o + c, quotient(load_n(a + c, cols - c), by, inverse), cols - c);
  }
}
TENFOLD_F2(Min, min_nan(a, b));
TENFOLD_F2(Max, max_nan(a, b));
TENFOLD_F2(MinNumber, min(b, a));
TENFOLD_F2(MaxNumber, max(b, a));
TENFOLD_F2(AddRelu, max(zero(), add(a, b)));
TENFOLD_F2(Eq, compare<_CMP_EQ_OQ>(a, b));
TENFOLD_F2(Ne, compare<_CMP_NEQ_UQ>(a, b));
TENFOLD_F2(Lt, compare<_CMP_LT_OQ>(a, b));
TENFOLD_F2(Le, compare<_CMP_LE_OQ>(a, b));
TENFOLD_F2(Gt, compare<_CMP_GT_OQ>(a, b));
TENFOLD_F2(Ge, compare<_CMP_GE_OQ>(a, b));
TENFOLD_F3(Fma, fma(a, b, c));
TENFOLD_F3(FmaRelu, max(zero(), fma(a, b, c)));
struct Select {
  TENFOLD_INLINE vf run(vmask m, vf a, vf b) { return blend(b, a, m); }
};

constexpr PointwiseF32Kernels table() {
  PointwiseF32Kernels t{};
  const auto set = [&t](Op op, PointwiseKernel kernel) { t.op[static_cast<int>(op)] = kernel; };
  set(Op::neg, unary<Neg>);
  set(Op::abs, unary<Abs>);
  set(Op::sign, unary<Sign>);
  set(Op::sqrt, unary<Sqrt>);
  set(Op::rsqrt, unary<Rsqrt>);
  set(Op::reciprocal, unary<Reciprocal>);
  set(Op::exp, unary<Exp>);
  set(Op::log, unary<Log>);
  set(Op::erf, unary<Erf>);
  set(Op::tanh, unary<Tanh>);
  set(Op::sigmoid, unary<Sigmoid>);
  set(Op::floor, unary<Floor>);
  set(Op::ceil, unary<Ceil>);
  set(Op::round_even, unary<RoundEven>);
  set(Op::is_nan, unary<IsNan, bool>);
  set(Op::is_inf, unary<IsInf, bool>);
  set(Op::gelu_erf, unary<GeluErf>);
  set(Op::gelu_tanh, unary<GeluTanh>);
  set(Op::silu, unary<Silu>);
  set(Op::add, binary<Add>);
  set(Op::sub, binary<Sub>);
  set(Op::mul, binary<Mul>);
  set(Op::div, divide);
  set(Op::min, binary<Min>);
  set(Op::max, binary<Max>);
  set(Op::min_number, binary<MinNumber>);
  set(Op::max_number, binary<MaxNumber>);
  set(Op::add_relu, binary<AddRelu>);
  set(Op::eq, binary<Eq, bool>);
  set(Op::ne, binary<Ne, bool>);
  set(Op::lt, binary<Lt, bool>);
  set(Op::le, binary<Le, bool>);
  set(Op::gt, binary<Gt, bool>);
  set(Op::ge, binary<Ge, bool>);
  set(Op::fma, ternary<Fma>);
  set(Op::fma_relu, ternary<FmaRelu>);
  set(Op::select, ternary<Select, bool>);
  set(Op::scale_i32, binary<Mul, float, std::int32_t>);
  set(Op::scale_add_i32, ternary<Fma, std::int32_t>);
  return t;
}

}  // namespace

extern "C" constinit const PointwiseF32Kernels TENFOLD_TABLE(pointwise_f32) = table();

}  // namespace tenfold::backends::cpu
