#include "backends/cpu/gemm/weights_fixed.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kMostExponent = 40;   // of what balances a row, and of a column beside that: products of the two stay far from overflow
bool middling(float value) { return value > std::ldexp(1.f, -kMostExponent) && value < std::ldexp(1.f, kMostExponent); }

}  // namespace

FixedWeights::FixedWeights(std::int64_t k, std::int64_t n, Order order)
    : k_(k),
      n_(n),
      order_(order),
      largest_(order == Order::pairs ? 0x7fff : 0x7f7f7f),
      depth_(round_up(k, order == Order::pairs ? 32 : kStep)),
      balance_at_(order == Order::pairs ? round_up(n, 16) * depth_ * 2 : round_up(n, kPanel) * depth_ * 3),
      step_at_(balance_at_ + round_up(k, kStep) * 4),
      head_at_(step_at_ + round_up(n, kGroup) * 4),
      originals_at_(head_at_ + 64),
      originals_{.taps = 1, .k = k, .n = n, .k_block = std::max<std::int64_t>(k, 1), .panel = tenfold_gemm_f32_avx512.panel} {}

void FixedWeights::put(char* packed, std::int64_t k, std::int64_t n, int value) const {
  if (order_ == Order::pairs) {
    const std::int64_t pair = k / 32 * 16 + k % 16, slot = pair * group_panels(n / kGroup) * 32 + n % kGroup * 2 + k % 32 / 16;
    const auto stored = static_cast<std::int16_t>(value);
    std::memcpy(packed + n / kGroup * kGroup * depth_ * 2 + slot * 2, &stored, 2);
    return;
  }
  char* const slot = packed + n / kPanel * kPanel * depth_ * 3 + k / kStep * kStep * kPanel * 3 + n % kPanel / 16 * 1024 +
                     k % kStep / 4 * 64 + n % 16 * 4 + k % 4;
  for (int byte = 2; byte >= 0; --byte, value = (value + 128) >> 8) slot[byte * 2048] = static_cast<char>(value);
}

// What balances rows, the mean square of their weights, and the steps of columns. False where they are no ordinary numbers.
bool FixedWeights::measure(const float* values, float* balance, float* step) const {
  for (std::int64_t k = 0; k < k_; ++k) {
    double squares = 0;
    for (std::int64_t n = 0; n < n_; ++n) squares += double{values[k * n_ + n]} * double{values[k * n_ + n]};
    balance[k] = squares == 0 ? 1.f : static_cast<float>(std::sqrt(squares / static_cast<double>(n_)));
    if (!middling(balance[k])) return false;   // NaN is not
    for (std::int64_t n = 0; n < n_; ++n) step[n] = std::max(step[n], std::abs(values[k * n_ + n]) / balance[k]);
  }
  for (std::int64_t n = 0; n < n_; ++n) {
    if (step[n] != 0 && !middling(step[n])) return false;
    step[n] /= static_cast<float>(largest_);
  }
  return true;
}

void FixedWeights::pack(const float* values, void* packed) const {
  std::memset(packed, 0, static_cast<std::size_t>(originals_at_));
  auto* const to = static_cast<char*>(packed);
  auto* const balance = reinterpret_cast<float*>(to + balance_at_);
  auto* const step = reinterpret_cast<float*>(to + step_at_);
  pack_f32(originals_, reinterpret_cast<float*>(to + originals_at_),
           [&](std::int64_t, std::int64_t k, std::int64_t n) { return values[k * n_ + n]; });
  const bool ordinary = measure(values, balance, step);
  *reinterpret_cast<float*>(to + head_at_) = ordinary;
  if (!ordinary) return;
  std::vector<double> steps_of_one(static_cast<std::size_t>(n_));
  for (std::int64_t n = 0; n < n_; ++n) steps_of_one[static_cast<std::size_t>(n)] = step[n] == 0 ? 0 : 1 / double{step[n]};
  for (std::int64_t k = 0; k < k_; ++k) {
    const double row = 1 / double{balance[k]};
    for (std::int64_t n = 0; n < n_; ++n) {
      const long value = std::lrint(double{values[k * n_ + n]} * row * steps_of_one[static_cast<std::size_t>(n)]);
      put(to, k, n, static_cast<int>(std::clamp<long>(value, -largest_, largest_)));
    }
  }
}

void FixedWeights::unpack(const void* packed, float* values) const {
  for (std::int64_t k = 0; k < k_; ++k)
    for (std::int64_t n = 0; n < n_; ++n) values[k * n_ + n] = originals(packed)[originals_.slot(0, k, n)];
}

}  // namespace tenfold::backends::cpu
