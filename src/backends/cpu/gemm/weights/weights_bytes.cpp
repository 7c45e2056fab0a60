#include "backends/cpu/gemm/weights/weights_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/gemm/weights/decode_loops.h"

namespace tenfold::backends::cpu {

void ByteWeights::pack(const std::int8_t* values, const float* steps, void* packed) const {
  auto* const to = static_cast<char*>(packed);
  std::memset(to, 0, static_cast<std::size_t>(bytes()));
  for (std::int64_t k = 0; k < k_; ++k)
    for (std::int64_t n = 0; n < n_; ++n) to[place(k, n)] = static_cast<char>(values[k * n_ + n]);
  auto* const balance = reinterpret_cast<float*>(to + balance_at_);
  std::fill_n(balance, k_, 1.f);
  std::memcpy(to + step_at_, steps, static_cast<std::size_t>(n_) * 4);
  bool ordinary = true;
  for (std::int64_t n = 0; n < n_; ++n) ordinary = ordinary && (steps[n] == 0 || (std::isnormal(steps[n]) && std::abs(steps[n]) < 0x1p60f));
  *reinterpret_cast<float*>(to + head_at_) = ordinary;
}

void ByteWeights::decode(const void* packed, std::int64_t first, std::int64_t last, std::int64_t column, double* to) const {
  const auto line_of = [&](std::int64_t k, std::int64_t n) {
    return DecodeLoops::Line{.from = static_cast<const char*>(packed) + pair_at(k, n),
                             .stride = group_panels(n / kGroup) * DecodeLoops::kLine * 2, .at = static_cast<int>(k % 32 / 16),
                             .step = step(packed) + n, .balance = balance(packed) + k};
  };
  decode_lines(decode_loops().bytes, first, last, column, round_up(n_, DecodeLoops::kLine), to, line_of);
}

}  // namespace tenfold::backends::cpu
