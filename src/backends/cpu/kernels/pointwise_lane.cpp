// Pointwise loops on every lane type but f32's SIMD: plain C++ that the compiler vectorises, with the C library's functions where
// a primitive has no vector form. Also gives f32 the primitives that have none.
#include <cmath>
#include <type_traits>

#include "backends/cpu/kernels/pointwise.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;

template <class T>
constexpr bool kFloat = std::is_floating_point_v<T>;
template <class T>
constexpr bool kSigned = std::is_signed_v<T>;
// Integers wrap: arithmetic happens in the unsigned type.
template <class T, bool = std::is_integral_v<T>>
struct WideOf {
  using type = std::make_unsigned_t<T>;
};
template <class T>
struct WideOf<T, false> {
  using type = T;
};
template <class T>
using Wide = typename WideOf<T>::type;
template <class T>
inline Wide<T> wide(T x) {
  return static_cast<Wide<T>>(x);
}
template <class T, class W>
inline T narrow(W x) {
  return static_cast<T>(x);
}

template <Op kOp, class T>
inline T unary_of(T x) {
  if constexpr (kOp == Op::neg)
    return kFloat<T> ? -x : narrow<T>(Wide<T>(0) - wide(x));
  else if constexpr (kOp == Op::abs) {
    if constexpr (kFloat<T>)
      return std::fabs(x);
    else
      return kSigned<T> && x < T(0) ? narrow<T>(Wide<T>(0) - wide(x)) : x;
  } else if constexpr (kOp == Op::sign) {
    if constexpr (kFloat<T>)
      return x != x ? x : static_cast<T>((x > 0) - (x < 0));
    else
      return static_cast<T>((x > T(0)) - (x < T(0)));
  } else if constexpr (kOp == Op::bit_not)
    return narrow<T>(~wide(x));
  else if constexpr (kOp == Op::sqrt)
    return std::sqrt(x);
  else if constexpr (kOp == Op::rsqrt)
    return 1 / std::sqrt(x);
  else if constexpr (kOp == Op::reciprocal)
    return 1 / x;
  else if constexpr (kOp == Op::exp)
    return std::exp(x);
  else if constexpr (kOp == Op::log)
    return std::log(x);
  else if constexpr (kOp == Op::erf)
    return std::erf(x);
  else if constexpr (kOp == Op::tanh)
    return std::tanh(x);
  else if constexpr (kOp == Op::sigmoid)
    return 1 / (1 + std::exp(-x));
  else if constexpr (kOp == Op::floor)
    return kFloat<T> ? static_cast<T>(std::floor(x)) : x;
  else if constexpr (kOp == Op::ceil)
    return kFloat<T> ? static_cast<T>(std::ceil(x)) : x;
  else if constexpr (kOp == Op::round_even)
    return kFloat<T> ? static_cast<T>(std::nearbyint(x)) : x;
  else if constexpr (kOp == Op::sin)
    return std::sin(x);
  else if constexpr (kOp == Op::cos)
    return std::cos(x);
  else if constexpr (kOp == Op::tan)
    return std::tan(x);
  else if constexpr (kOp == Op::asin)
    return std::asin(x);
  else if constexpr (kOp == Op::acos)
    return std::acos(x);
  else if constexpr (kOp == Op::atan)
    return std::atan(x);
  else if constexpr (kOp == Op::sinh)
    return std::sinh(x);
  else if constexpr (kOp == Op::cosh)
    return std::cosh(x);
  else if constexpr (kOp == Op::asinh)
    return std::asinh(x);
  else if constexpr (kOp == Op::acosh)
    return std::acosh(x);
  else
    return std::atanh(x);
}
template <Op kOp, class T>
inline bool test_of(T x) {
  if constexpr (kOp == Op::logical_not)
    return x == T(0);
  else if constexpr (!kFloat<T>)
    return false;
  else if constexpr (kOp == Op::is_nan)
    return x != x;
  else
    return std::fabs(x) == static_cast<T>(INFINITY);
}

// Quotients of integers: by zero 0, the least value by -1 wraps. mod takes the divisor's sign, fmod the dividend's.
template <Op kOp, class T>
inline T divide(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (kSigned<T>) {
    if (b == T(-1)) return kOp == Op::div ? narrow<T>(Wide<T>(0) - wide(a)) : T(0);
  }
  if constexpr (kOp == Op::div) return static_cast<T>(a / b);
  const T r = static_cast<T>(a % b);
  if constexpr (kOp == Op::mod && kSigned<T>) return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
  return r;
}
template <class T>
inline T power(T base, T exponent) {
  if constexpr (kFloat<T>) {
    return std::pow(base, exponent);
  } else {
    if (kSigned<T> && exponent < T(0)) return base == T(1) ? T(1) : base == T(-1) ? (exponent % 2 ? T(-1) : T(1)) : T(0);
    std::uint64_t result = 1, square = static_cast<std::uint64_t>(base);
    for (std::uint64_t rest = static_cast<std::uint64_t>(exponent); rest; rest >>= 1, square *= square)
      if (rest & 1) result *= square;
    return static_cast<T>(result);
  }
}
template <Op kOp, class T>
inline T shift(T a, T b) {
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8;
  const bool out = (kSigned<T> && b < T(0)) || wide(b) >= static_cast<Wide<T>>(kBits);
  if constexpr (kOp == Op::shift_left)
    return out ? T(0) : narrow<T>(static_cast<std::uint64_t>(wide(a)) << wide(b));
  else
    return out ? (kSigned<T> && a < T(0) ? T(-1) : T(0)) : static_cast<T>(a >> wide(b));
}
template <Op kOp, class T>
inline T binary_of(T a, T b) {
  if constexpr (kOp == Op::add)
    return narrow<T>(wide(a) + wide(b));
  else if constexpr (kOp == Op::sub)
    return narrow<T>(wide(a) - wide(b));
  else if constexpr (kOp == Op::mul) {
    if constexpr (kFloat<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(a) *
                            static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(b));
  } else if constexpr (kOp == Op::div) {
    if constexpr (kFloat<T>)
      return a / b;
    else
      return divide<Op::div>(a, b);
  } else if constexpr (kOp == Op::mod || kOp == Op::fmod) {
    if constexpr (kFloat<T>) {
      const T r = std::fmod(a, b);
      return kOp == Op::mod && r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else
      return divide<kOp>(a, b);
  } else if constexpr (kOp == Op::pow)
    return power(a, b);
  else if constexpr (kOp == Op::min)
    return kFloat<T> ? (a != a || a < b ? a : b) : (a < b ? a : b);
  else if constexpr (kOp == Op::max)
    return kFloat<T> ? (a != a || a > b ? a : b) : (a > b ? a : b);
  else if constexpr (kOp == Op::bit_and || kOp == Op::logical_and)
    return static_cast<T>(a & b);
  else if constexpr (kOp == Op::bit_or || kOp == Op::logical_or)
    return static_cast<T>(a | b);
  else if constexpr (kOp == Op::bit_xor || kOp == Op::logical_xor)
    return static_cast<T>(a ^ b);
  else
    return shift<kOp>(a, b);
}
template <Op kOp, class T>
inline bool compare_of(T a, T b) {
  if constexpr (kOp == Op::eq)
    return a == b;
  else if constexpr (kOp == Op::ne)
    return a != b;
  else if constexpr (kOp == Op::lt)
    return a < b;
  else if constexpr (kOp == Op::le)
    return a <= b;
  else if constexpr (kOp == Op::gt)
    return a > b;
  else
    return a >= b;
}

// Element (r, c) of an argument; a uniform one has step 0. No iteration depends on another, whatever the pointers: see ivdep.
template <class T>
struct In {
  const T* p;
  int64_t step;
  In(const PointwiseArg& arg, int64_t r, bool uniform) : p(static_cast<const T*>(arg.data) + r * arg.row_stride), step(uniform ? 0 : 1) {}
};

template <Op kOp, class R, class T>
void unary(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    R* o = static_cast<R*>(out) + r * out_row;
    const In<T> a(args[0], r, uniform & 1);
    const auto f = [](T x) -> R {
      if constexpr (std::is_same_v<R, bool>)
        return test_of<kOp>(x);
      else
        return unary_of<kOp>(x);
    };
    if (uniform & 1) {
      const R value = f(*a.p);
      for (int64_t c = 0; c < cols; ++c) o[c] = value;
    } else {
#pragma GCC ivdep
      for (int64_t c = 0; c < cols; ++c) o[c] = f(a.p[c]);
    }
  }
}
template <Op kOp, class R, class T>
void binary(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  const auto f = [](T x, T y) -> R {
    if constexpr (std::is_same_v<R, bool>)
      return compare_of<kOp>(x, y);
    else
      return binary_of<kOp>(x, y);
  };
  for (int64_t r = 0; r < rows; ++r) {
    R* o = static_cast<R*>(out) + r * out_row;
    const T* a = static_cast<const T*>(args[0].data) + r * args[0].row_stride;
    const T* b = static_cast<const T*>(args[1].data) + r * args[1].row_stride;
    const T a0 = *a, b0 = *b;
    if constexpr (kOp == Op::pow && kFloat<T>) {  // squares, as norms are exported
      if ((uniform & 3) == 2 && b0 == T(2)) {
#pragma GCC ivdep
        for (int64_t c = 0; c < cols; ++c) o[c] = a[c] * a[c];
        continue;
      }
    }
    switch (uniform & 3) {
      case 0:
#pragma GCC ivdep
        for (int64_t c = 0; c < cols; ++c) o[c] = f(a[c], b[c]);
        break;
      case 1:
#pragma GCC ivdep
        for (int64_t c = 0; c < cols; ++c) o[c] = f(a0, b[c]);
        break;
      case 2:
#pragma GCC ivdep
        for (int64_t c = 0; c < cols; ++c) o[c] = f(a[c], b0);
        break;
      default:
        for (int64_t c = 0; c < cols; ++c) o[c] = f(a0, b0);
    }
  }
}
template <class T>
void select(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    T* o = static_cast<T*>(out) + r * out_row;
    const In<std::uint8_t> m(args[0], r, uniform & 1);
    const In<T> a(args[1], r, uniform & 2), b(args[2], r, uniform & 4);
#pragma GCC ivdep
    for (int64_t c = 0; c < cols; ++c) o[c] = m.p[c * m.step] ? a.p[c * a.step] : b.p[c * b.step];
  }
}
template <class T>
void fma3(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    T* o = static_cast<T*>(out) + r * out_row;
    const In<T> a(args[0], r, uniform & 1), b(args[1], r, uniform & 2), x(args[2], r, uniform & 4);
#pragma GCC ivdep
    for (int64_t c = 0; c < cols; ++c) {
      if constexpr (kFloat<T>)
        o[c] = std::fma(a.p[c * a.step], b.p[c * b.step], x.p[c * x.step]);
      else
        o[c] = binary_of<Op::add>(binary_of<Op::mul>(a.p[c * a.step], b.p[c * b.step]), x.p[c * x.step]);
    }
  }
}

template <Op kOp, class T>
constexpr void set_unary(PointwiseKernel* t) {
  t[static_cast<int>(kOp)] = unary<kOp, T, T>;
}
template <Op kOp, class T>
constexpr void set_test(PointwiseKernel* t) {
  t[static_cast<int>(kOp)] = unary<kOp, bool, T>;
}
template <Op kOp, class T>
constexpr void set_binary(PointwiseKernel* t) {
  t[static_cast<int>(kOp)] = binary<kOp, T, T>;
}
template <Op kOp, class T>
constexpr void set_compare(PointwiseKernel* t) {
  t[static_cast<int>(kOp)] = binary<kOp, bool, T>;
}

template <class T>
constexpr void fill_functions(PointwiseKernel* t) {  // of floats only
  set_unary<Op::sin, T>(t);
  set_unary<Op::cos, T>(t);
  set_unary<Op::tan, T>(t);
  set_unary<Op::asin, T>(t);
  set_unary<Op::acos, T>(t);
  set_unary<Op::atan, T>(t);
  set_unary<Op::sinh, T>(t);
  set_unary<Op::cosh, T>(t);
  set_unary<Op::asinh, T>(t);
  set_unary<Op::acosh, T>(t);
  set_unary<Op::atanh, T>(t);
  set_binary<Op::pow, T>(t);
  set_binary<Op::mod, T>(t);
  set_binary<Op::fmod, T>(t);
}
template <class T>
constexpr void fill(PointwiseKernel* t) {
  set_unary<Op::neg, T>(t);
  set_unary<Op::abs, T>(t);
  set_unary<Op::sign, T>(t);
  set_unary<Op::floor, T>(t);
  set_unary<Op::ceil, T>(t);
  set_unary<Op::round_even, T>(t);
  set_test<Op::is_nan, T>(t);
  set_test<Op::is_inf, T>(t);
  set_binary<Op::add, T>(t);
  set_binary<Op::sub, T>(t);
  set_binary<Op::mul, T>(t);
  set_binary<Op::div, T>(t);
  set_binary<Op::min, T>(t);
  set_binary<Op::max, T>(t);
  set_compare<Op::eq, T>(t);
  set_compare<Op::ne, T>(t);
  set_compare<Op::lt, T>(t);
  set_compare<Op::le, T>(t);
  set_compare<Op::gt, T>(t);
  set_compare<Op::ge, T>(t);
  t[static_cast<int>(Op::select)] = select<T>;
  t[static_cast<int>(Op::fma)] = fma3<T>;
  if constexpr (kFloat<T>) {
    fill_functions<T>(t);
    set_unary<Op::sqrt, T>(t);
    set_unary<Op::rsqrt, T>(t);
    set_unary<Op::reciprocal, T>(t);
    set_unary<Op::exp, T>(t);
    set_unary<Op::log, T>(t);
    set_unary<Op::erf, T>(t);
    set_unary<Op::tanh, T>(t);
    set_unary<Op::sigmoid, T>(t);
  } else {
    set_unary<Op::bit_not, T>(t);
    set_test<Op::logical_not, T>(t);
    set_binary<Op::pow, T>(t);
    set_binary<Op::mod, T>(t);
    set_binary<Op::fmod, T>(t);
    set_binary<Op::bit_and, T>(t);
    set_binary<Op::bit_or, T>(t);
    set_binary<Op::bit_xor, T>(t);
    set_binary<Op::shift_left, T>(t);
    set_binary<Op::shift_right, T>(t);
    set_binary<Op::logical_and, T>(t);
    set_binary<Op::logical_or, T>(t);
    set_binary<Op::logical_xor, T>(t);
  }
}

constexpr PointwiseLaneKernels table() {
  PointwiseLaneKernels t{};
  const auto of = [&t](Lane lane) { return t.op[static_cast<int>(lane)]; };
  fill_functions<float>(of(Lane::f32));
  fill<double>(of(Lane::f64));
  fill<std::int64_t>(of(Lane::i64));
  fill<std::int32_t>(of(Lane::i32));
  fill<std::int16_t>(of(Lane::i16));
  fill<std::int8_t>(of(Lane::i8));
  fill<std::uint64_t>(of(Lane::u64));
  fill<std::uint32_t>(of(Lane::u32));
  fill<std::uint16_t>(of(Lane::u16));
  fill<std::uint8_t>(of(Lane::u8));
  return t;
}

}  // namespace

extern "C" constinit const PointwiseLaneKernels TENFOLD_TABLE(pointwise_lane) = table();

}  // namespace tenfold::backends::cpu
