// Products of f32 in two terms of bf16 against sums of double: one term would miss by a hundred times as much as is allowed.
#include "backends/cpu/gemm/bf16/bf16_matrix.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "backends/cpu/gemm/bf16/gemm_bf16_for_tests.h"
#include "backends/cpu/gemm/bf16/pack_bf16.h"
#include "base/types/half.h"

namespace tenfold::backends::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();

std::vector<float> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = std::uniform_real_distribution<float>(-1, 1)(random);
  return values;
}

TEST(GemmBf16, CopiesSplitAsWeightsDo) {
  const testing::AmxOrPortable kernels;
  std::vector<float> from = random_values(75, 1);
  const float odd[] = {kInfinity, -kInfinity, kNan, kMax, -kMax, 3.39e38f, 0.f, -0.f, 1.f, 1.00390625f, 1e-30f};
  std::copy(std::begin(odd), std::end(odd), from.begin() + 27);
  constexpr std::int64_t kLow = 256;
  std::vector<std::uint16_t> to(256, 7);
  gemm_bf16_kernels().copy({.from = reinterpret_cast<const char*>(from.data()),
                            .wide = true,
                            .rows = 1,
                            .count = 75,
                            .padded = 96,
                            .to = reinterpret_cast<char*>(to.data()),
                            .terms = 2,
                            .low = kLow});
  for (std::size_t i = 0; i < 75; ++i) {
    const Bf16Terms terms = split_to_bf16(from[i]);
    const double high = bf16_to_float(to[i]), low = bf16_to_float(to[i + kLow / 2]), sum = high + low;
    EXPECT_EQ(to[i], terms.high) << from[i];
    EXPECT_TRUE(to[i + kLow / 2] == terms.low || std::isnan(from[i])) << from[i];
    EXPECT_TRUE(std::isfinite(high)) << from[i];
    if (std::isfinite(from[i]))
      EXPECT_LE(std::abs(sum - from[i]), std::ldexp(std::abs(from[i]), -17));
    else
      EXPECT_TRUE(sum == from[i] || (std::isnan(sum) && std::isnan(from[i])));
  }
  for (std::size_t i = 75; i < 96; ++i) EXPECT_TRUE(to[i] == 0 && to[i + kLow / 2] == 0);
  EXPECT_TRUE(to[96] == 7 && to[96 + kLow / 2] == 7) << "wrote behind the row";
}

// c[rows][32 cols] of the two terms, through packed weights and copied rows.
std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, std::int64_t rows, std::int64_t k, std::int64_t n) {
  const GemmBf16B w{.taps = 1, .k = k, .n = n, .type = DType::f32, .terms = 2};
  Tensor original(DType::f32, {k, n});
  std::copy(b.begin(), b.end(), original.mutable_data<float>());
  const auto element = [n](std::int64_t, std::int64_t i, std::int64_t j) { return i * n + j; };
  std::vector<char> packed(static_cast<std::size_t>(w.bytes()));
  pack_bf16(w, original, packed.data(), element);
  const Tensor back = unpack_bf16(w, {k, n}, packed.data(), element);
  for (std::int64_t i = 0; i < back.size(); ++i) {
    const float v = original.data<float>()[i], was = back.data<float>()[i];
    if (std::isfinite(v)) EXPECT_LE(std::abs(was - v), std::ldexp(std::abs(v), -16)) << v;
    else EXPECT_TRUE(std::isnan(v) ? std::isnan(was) : was == v) << v;
  }
  const std::int64_t dims[] = {rows, k}, strides[] = {k, 1};
  const Bound bound{.dims = dims, .strides = strides, .rank = 2};
  std::vector<char> copy(static_cast<std::size_t>(Bf16Matrix::copy_bytes(w, Bf16Matrix::Mode::packed, rows)));
  const GemmBf16A copied =
      Bf16Matrix(a.data(), DType::f32, MatrixRows(bound, 0, 1), Bf16Matrix::Mode::packed).rows(w, 0, rows, copy.data()).a;
  std::vector<float> c(static_cast<std::size_t>(round_up(rows, 16) * w.panels() * 32));
  gemm_bf16_kernels().enter();
  for (std::int64_t panel = 0; panel < w.panels(); ++panel) {
    GemmBf16Tile tile{.taps = copied.taps, .tap_count = 1, .steps = w.steps(), .terms = 2, .low = copied.term_bytes};
    tile.panel = reinterpret_cast<const std::uint16_t*>(packed.data()) + panel * w.panel();
    for (int i = 0; i < (rows > 16 ? 2 : 1); ++i)
      tile.a[i] = copied.first + i * 16 * copied.row_bytes, tile.row_bytes[i] = copied.row_bytes;
    gemm_bf16_kernels().multiply(tile, c.data() + panel * 32, w.panels() * 32);
  }
  gemm_bf16_kernels().leave();
  return c;
}

void compare(const std::vector<float>& a, const std::vector<float>& b, std::int64_t rows, std::int64_t k, std::int64_t n) {
  const std::vector<float> c = product(a, b, rows, k, n);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const double term = double{a[static_cast<std::size_t>(i * k + l)]} * double{b[static_cast<std::size_t>(l * n + j)]};
        sum += term, size += std::abs(term);
      }
      const float y = c[static_cast<std::size_t>(i * round_up(n, 32) + j)];
      if (std::isnan(sum))
        EXPECT_TRUE(std::isnan(y)) << i << ' ' << j;
      else if (std::isinf(sum))
        EXPECT_EQ(y, sum) << i << ' ' << j;
      else
        EXPECT_LE(std::abs(y - sum), size * 2e-5) << i << ' ' << j;
    }
}

TEST(GemmBf16, TwoTermsComeNearF32) {
  const testing::AmxOrPortable kernels;
  for (const auto& [rows, k, n] : {std::array<std::int64_t, 3>{1, 1, 1}, {16, 32, 32}, {32, 64, 33}, {7, 45, 70}, {29, 300, 5}})
    compare(random_values(rows * k, 2), random_values(k * n, 3), rows, k, n);
}

TEST(GemmBf16, TwoTermsAddUpToTheValue) {
  std::mt19937 random(7);
  const auto near = [](std::uint32_t bits) {
    const float value = std::bit_cast<float>(bits), sum = join_bf16(split_to_bf16(value));
    if (!std::isfinite(value)) return std::isnan(value) ? std::isnan(sum) : sum == value;
    return std::abs(sum - value) <= std::max(std::ldexp(std::abs(value), -16), std::ldexp(1.f, -134));   // the least bf16 is 2^-133
  };
  for (int i = 0; i < 1000000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    ASSERT_TRUE(near(bits)) << bits;
  }
  for (const std::uint32_t high : {0u, 1u, 2u, 0x3f80u, 0x7f7eu, 0x7f7fu, 0x7f80u, 0x8000u, 0x8001u, 0xbf81u, 0xff7fu, 0xff80u})
    for (const std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) EXPECT_TRUE(near(high << 16 | low)) << high << ' ' << low;
}

// The terms that meet infinity are zero, or of the other sign; neither may turn it into no number.
TEST(GemmBf16, TwoTermsKeepWhatIsNotFinite) {
  const testing::AmxOrPortable kernels;
  constexpr std::int64_t kRows = 20, kDepth = 40, kColumns = 35;
  std::vector<float> a = random_values(kRows * kDepth, 4), b = random_values(kDepth * kColumns, 5);
  b[3 * kColumns + 1] = 1;   // its low term is zero
  a[2 * kDepth + 3] = kInfinity, a[5 * kDepth + 7] = -kInfinity, a[9 * kDepth + 39] = kNan, a[18 * kDepth] = kMax;
  for (std::int64_t j = 0; j < kColumns; ++j) b[static_cast<std::size_t>(j)] *= 0.25f;   // what the largest number is multiplied by
  compare(a, b, kRows, kDepth, kColumns);
  b[11 * kColumns + 4] = kInfinity, b[12 * kColumns + 6] = kNan, b[13 * kColumns + 8] = -kMax;
  std::vector<float> finite = random_values(kRows * kDepth, 6);
  compare(finite, b, kRows, kDepth, kColumns);
}

}  // namespace
}  // namespace tenfold::backends::cpu
