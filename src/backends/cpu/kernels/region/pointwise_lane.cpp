// Pointwise loops on every lane type but f32's SIMD: plain C++ that the compiler vectorizes, with the C library's functions where
// a primitive has no vector form. Also gives f32 the primitives that have none.
#include "backends/cpu/kernels/region/pointwise_lane_ops.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;

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
  const auto of = [&t](LaneType lane) { return t.op[static_cast<int>(lane)]; };
  fill_functions<float>(of(LaneType::f32));
  fill<double>(of(LaneType::f64));
  fill<std::int64_t>(of(LaneType::i64));
  fill<std::int32_t>(of(LaneType::i32));
  fill<std::int16_t>(of(LaneType::i16));
  fill<std::int8_t>(of(LaneType::i8));
  fill<std::uint64_t>(of(LaneType::u64));
  fill<std::uint32_t>(of(LaneType::u32));
  fill<std::uint16_t>(of(LaneType::u16));
  fill<std::uint8_t>(of(LaneType::u8));
  return t;
}

}  // namespace

extern "C" constinit const PointwiseLaneKernels TENFOLD_TABLE(pointwise_lane) = table();

}  // namespace tenfold::backends::cpu
