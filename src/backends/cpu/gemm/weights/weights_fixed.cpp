#include "backends/cpu/gemm/weights/weights_fixed.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/gemm/f32/fixed_rows.h"
#include "backends/cpu/gemm/weights/decode_loops.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kMaxExponent = 40;   // of what balances a row, and of a column beside that: products of the two stay far from overflow
bool middling(float value) { return value > std::ldexp(1.f, -kMaxExponent) && value < std::ldexp(1.f, kMaxExponent); }

constexpr float kMin = std::numeric_limits<float>::min();
constexpr int kLine = 16;   // columns that are packed together
using Line = std::array<int, kLine>;

// Integers of weights that are beyond all others: +Inf, -Inf, NaN.
int special(float value, int largest) { return std::isnan(value) ? -largest - 2 : value > 0 ? largest + 1 : -largest - 1; }

// The integers of one row's next columns. Adding 1.5 * 2^52 rounds to an integer, in the lower half of a double's bits.
void round_line(const float* values, double row, const double* columns, int largest, Line& to) {
  const double max = largest;
  for (int c = 0; c < kLine; ++c) {
    const double scaled = std::clamp(double{values[c]} * row * columns[c], -max, max);
    to[static_cast<std::size_t>(c)] = static_cast<int>(std::bit_cast<std::int64_t>(scaled + 0x1.8p52));
  }
}

}  // namespace

FixedWeights::FixedWeights(std::int64_t k, std::int64_t n, Order order)
    : ScaledColumns(k, n, round_up(k, order == Order::pairs ? 32 : kStep),
                    order == Order::pairs ? round_up(n, 16) * round_up(k, 32) * 2 : round_up(n, kPanel) * round_up(k, kStep) * 3),
      order_(order),
      largest_(order == Order::pairs ? 0x7ffd : 0x7f7f7e) {}

std::int64_t FixedWeights::place(std::int64_t k, std::int64_t n) const {
  if (order_ == Order::tiles)
    return n / kPanel * kPanel * depth_ * 3 + k / kStep * kStep * kPanel * 3 + n % kPanel / 16 * 1024 + k % kStep / 4 * 64 + n % 16 * 4;
  return pair_at(k, n) * 2;
}

// What balances rows, the mean square of their weights, and the steps of columns. False where they are no ordinary numbers.
bool FixedWeights::measure(const float* values, float* balance, float* step) const {
  const FixedRows& rows = fixed_rows();
  bool ordinary = true;
  for (std::int64_t k = 0; k < k_; ++k) {
    const float* const row = values + k * n_;
    double squares = rows.squares(row, n_);
    const bool finite = std::isfinite(squares);
    if (!finite) {
      squares = 0, ordinary = false;
      for (std::int64_t n = 0; n < n_; ++n) squares += std::isfinite(row[n]) ? double{row[n]} * double{row[n]} : 0;
    }
    balance[k] = squares == 0 ? 1.f : std::max(static_cast<float>(std::sqrt(squares / static_cast<double>(n_))), kMin);
    ordinary = ordinary && middling(balance[k]);
    if (finite) rows.raise(row, n_, balance[k], step);
    for (std::int64_t n = 0; n < n_ && !finite; ++n)
      if (std::isfinite(row[n])) step[n] = std::max(step[n], std::abs(row[n]) / balance[k]);
  }
  for (std::int64_t n = 0; n < n_; ++n) {
    if (step[n] == 0) continue;
    ordinary = ordinary && middling(step[n]);
    step[n] = std::max(step[n] / static_cast<float>(largest_), kMin);
  }
  return ordinary;
}

void FixedWeights::pack(const float* values, void* packed) const {
  auto* const to = static_cast<char*>(packed);
  std::memset(to + balance_at_, 0, static_cast<std::size_t>(bytes() - balance_at_));
  auto* const balance = reinterpret_cast<float*>(to + balance_at_);
  auto* const step = reinterpret_cast<float*>(to + step_at_);
  const bool ordinary = measure(values, balance, step);
  *reinterpret_cast<float*>(to + head_at_) = ordinary;
  const std::int64_t width = round_up(n_, order_ == Order::pairs ? kLine : kPanel);
  std::vector<double> columns(static_cast<std::size_t>(width));
  for (std::int64_t n = 0; n < n_; ++n) columns[static_cast<std::size_t>(n)] = step[n] == 0 ? 0 : 1 / double{step[n]};
  const auto line = [&](std::int64_t k, std::int64_t n, Line& integers) {
    integers = {};
    if (k >= k_ || n >= n_) return;
    const float* from = values + k * n_ + n;
    float last[kLine] = {};
    if (n + kLine > n_) from = static_cast<const float*>(std::memcpy(last, from, static_cast<std::size_t>(n_ - n) * 4));
    round_line(from, 1 / double{balance[k]}, columns.data() + n, largest_, integers);
    for (int c = 0; c < kLine && !ordinary; ++c)
      if (!std::isfinite(from[c])) integers[static_cast<std::size_t>(c)] = special(from[c], largest_);
  };
  const auto put = [](char* at, const Line& a, const Line& b) {   // pairs
    std::uint32_t words[kLine];
    for (std::size_t c = 0; c < kLine; ++c) words[c] = (static_cast<std::uint32_t>(a[c]) & 0xffff) | static_cast<std::uint32_t>(b[c]) << 16;
    std::memcpy(at, words, sizeof words);
  };
  const auto put_byte = [](char* at, std::array<Line, 4>& rows) {   // the lowest; what is left goes into the next, for bytes are signed
    std::uint32_t words[kLine] = {};
    for (int r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < kLine; ++c) {
        int& value = rows[static_cast<std::size_t>(r)][c];
        words[c] |= (static_cast<std::uint32_t>(value) & 255) << (8 * r);
        value = (value + 128) >> 8;
      }
    std::memcpy(at, words, sizeof words);
  };
  std::array<Line, 4> rows;
  for (std::int64_t k = 0; k < depth_; k += order_ == Order::tiles ? 4 : k % 32 < 15 ? 1 : 17) {
    std::int64_t done = 0;
    if (order_ == Order::tiles && ordinary && k + 4 <= k_) {
      const double inverse[4] = {1 / double{balance[k]}, 1 / double{balance[k + 1]}, 1 / double{balance[k + 2]},
                                 1 / double{balance[k + 3]}};
      fixed_rows().bytes({.from = values + k * n_, .stride = n_, .lines = n_ / kLine, .panel = kPanel * depth_ * 3, .rows = inverse,
                          .columns = columns.data(), .largest = largest_, .to = to + place(k, 0)});
      done = n_ / kLine * kLine;
    }
    for (std::int64_t n = done; n < width; n += kLine) {
      char* const at = to + place(k, n);
      if (order_ == Order::pairs) {
        line(k, n, rows[0]), line(k + 16, n, rows[1]);
        put(at, rows[0], rows[1]);
        continue;
      }
      for (int r = 0; r < 4; ++r) line(k + r, n, rows[static_cast<std::size_t>(r)]);
      for (int byte = 2; byte >= 0; --byte) put_byte(at + byte * 2048, rows);
    }
  }
}

void FixedWeights::decode(const void* packed, std::int64_t first, std::int64_t last, std::int64_t column, double* to) const {
  const bool tiles = order_ == Order::tiles;
  const auto line_of = [&](std::int64_t k, std::int64_t n) {
    return DecodeLoops::Line{.from = static_cast<const char*>(packed) + place(k, n),
                             .stride = group_panels(n / kGroup) * kLine * 4,
                             .at = static_cast<int>(tiles ? k % 4 : k % 32 / 16),
                             .step = step(packed) + n, .balance = balance(packed) + k,
                             .largest = ordinary(packed) ? 0 : largest_};
  };
  decode_lines(tiles ? decode_loops().tiles : decode_loops().pairs, first, last, column, round_up(n_, kLine), to, line_of);
}

void FixedWeights::unpack(const void* packed, float* values) const {
  double row[kPanel];
  for (std::int64_t k = 0; k < k_; ++k)
    for (std::int64_t n = 0; n < n_; n += kPanel) {
      decode(packed, k, k + 1, n, row);
      for (std::int64_t c = 0; c < std::min(kPanel, n_ - n); ++c) values[k * n_ + n + c] = static_cast<float>(row[c]);
    }
}

}  // namespace tenfold::backends::cpu
