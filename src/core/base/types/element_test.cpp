// Doubles become narrow floats in one rounding: to the nearest of all values of the format, of two equally near ones the even one.
#include "base/types/element.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/threads/float_state.h"

namespace tenfold {
namespace {

// The format as its standard gives it, apart from the code under test.
struct Format {
  DType dtype;
  int exponent_bits, fraction_bits, bias;
  int finite;              // codes without sign that are finite numbers
  bool overflows;          // to infinity, else to the largest
};
const Format kFormats[] = {{DType::f16, 5, 10, 15, 0x7c00, true},        {DType::bf16, 8, 7, 127, 0x7f80, true},
                           {DType::f8e4m3fn, 4, 3, 7, 0x7f, false},      {DType::f8e4m3fnuz, 4, 3, 8, 0x80, false},
                           {DType::f8e5m2, 5, 2, 15, 0x7c, false},       {DType::f8e5m2fnuz, 5, 2, 16, 0x80, false},
                           {DType::f4e2m1, 2, 1, 1, 8, false}};

// Exact: no format here has more than 11 significant bits.
double value_of(const Format& f, int code) {
  const int fraction = code & ((1 << f.fraction_bits) - 1), exponent = code >> f.fraction_bits;
  return exponent == 0 ? std::ldexp(fraction, 1 - f.bias - f.fraction_bits)
                       : std::ldexp(fraction + (1 << f.fraction_bits), exponent - f.bias - f.fraction_bits);
}

// Of all codes without sign; the last one is where overflow would begin.
std::vector<double> values_of(const Format& f) {
  std::vector<double> values;
  for (int code = 0; code <= f.finite; ++code) values.push_back(value_of(f, code));
  return values;
}

double nearest(const Format& f, const std::vector<double>& values, double v) {
  const auto above = std::lower_bound(values.begin(), values.end(), v);
  std::size_t code = above == values.end() ? values.size() - 1 : static_cast<std::size_t>(above - values.begin());
  if (above != values.end() && *above != v) {
    const double middle = (values[code - 1] + values[code]) / 2;   // exact
    if (v < middle || (v == middle && code % 2 == 1)) --code;
  }
  if (code < static_cast<std::size_t>(f.finite)) return values[code];
  return f.overflows ? std::numeric_limits<double>::infinity() : values[static_cast<std::size_t>(f.finite) - 1];
}

double through(DType dtype, double v) {
  std::uint64_t room = 0;
  store_double(dtype, &room, 0, v);
  return load_double(dtype, &room, 0);
}

// On, beside and very near to each value and each middle of two, where a rounding through float goes wrong.
std::vector<double> around(double low, double high) {
  std::vector<double> all;
  for (const double at : {low, (low + high) / 2, low + (high - low) / 4, high})
    for (const double v : {at, std::nextafter(at, 0.0), std::nextafter(at, 1e300), at * (1 + 0x1p-35), at * (1 - 0x1p-35),
                           at * (1 + 0x1p-25), at * (1 - 0x1p-25)})
      all.push_back(v);
  return all;
}

void expect_nearest(const Format& f, int step) {
  const std::vector<double> values = values_of(f);
  int wrong = 0;
  for (int code = 0; code < f.finite && wrong < 5; code += step)
    for (const double v : around(value_of(f, code), value_of(f, code + 1))) {
      const double expected = nearest(f, values, v);
      wrong += through(f.dtype, v) != expected || (expected != 0 && through(f.dtype, -v) != -expected);
      EXPECT_EQ(through(f.dtype, v), expected) << name(f.dtype) << " of " << std::hexfloat << v;
    }
  EXPECT_EQ(wrong, 0) << name(f.dtype);
}

TEST(Element, DoublesAreRoundedOnce) {
  EXPECT_EQ(through(DType::f16, 1 + 0x1p-11 + 0x1p-35), 1 + 0x1p-10);
  EXPECT_EQ(through(DType::f16, 1 + 0x1p-11), 1);
  for (const Format& f : kFormats) expect_nearest(f, f.finite > 256 ? 37 : 1);   // 37: every exponent, odd and even codes
}

// Reference kernels run while denormals are flushed, too.
TEST(Element, WhateverTheFloatingPointState) {
  const FloatState flushes;
  for (const Format& f : kFormats)
    if (f.dtype != DType::bf16) expect_nearest(f, f.finite > 256 ? 97 : 1);   // whose denormals are those of f32
}

TEST(Element, FarOutsideAndNoNumber) {
  for (const Format& f : kFormats) {
    const double max = f.overflows ? std::numeric_limits<double>::infinity() : value_of(f, f.finite - 1);
    for (const double v : {1e39, 1e300, std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity()}) {
      EXPECT_EQ(through(f.dtype, v), max) << name(f.dtype) << v;
      EXPECT_EQ(through(f.dtype, -v), -max) << name(f.dtype) << v;
    }
    for (const double v : {1e-50, 1e-310, std::numeric_limits<double>::denorm_min()})
      EXPECT_EQ(through(f.dtype, v), 0) << name(f.dtype) << v;
    const double none = through(f.dtype, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(f.dtype == DType::f4e2m1 ? none == 0 : std::isnan(none)) << name(f.dtype) << none;   // which has no NaN
  }
}

TEST(Element, IntegersOf64BitsTakeTheirGreatestAndLeast) {
  const auto as_u64 = [](double v) {
    std::uint64_t stored = 1;
    store_double(DType::u64, &stored, 0, v);
    return stored;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  for (const double v : {0x1p64, 1e300, kInfinity}) EXPECT_EQ(as_u64(v), kMax) << v;
  EXPECT_EQ(as_u64(0x1.fffffffffffffp63), kMax - 2047);   // the greatest double below 2^64
  EXPECT_EQ(as_u64(-1.5), kMax);   // as an integer cast has it
  EXPECT_EQ(as_u64(-kInfinity), std::uint64_t{1} << 63);
  EXPECT_EQ(as_u64(std::numeric_limits<double>::quiet_NaN()), 0);
  std::int64_t stored = 1;
  store_double(DType::i64, &stored, 0, kInfinity);
  EXPECT_EQ(stored, std::numeric_limits<std::int64_t>::max());
}

TEST(Element, PowersOfTwoTakeTheNearest) {
  for (int e = -120; e <= 120; ++e) {
    const double one = std::ldexp(1.0, e);
    EXPECT_EQ(through(DType::f8e8m0, one * 1.5), one) << e;
    EXPECT_EQ(through(DType::f8e8m0, one * (1.5 + 0x1p-40)), 2 * one) << e;
    EXPECT_EQ(through(DType::f8e8m0, one * (1.5 - 0x1p-40)), one) << e;
  }
}

}  // namespace
}  // namespace tenfold
