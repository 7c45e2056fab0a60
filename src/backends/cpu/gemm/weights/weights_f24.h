// f32 weights in 24 bits for kernels/gemm/gemv_f24.h.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

class WeightsF24 {
 public:
  WeightsF24(std::int64_t k, std::int64_t n, int panel) : k_(k), n_(n), panel_(panel) {}

  std::int64_t panels() const { return (n_ + panel_ - 1) / panel_; }
  std::int64_t panel_step() const { return groups() * 3 * panel_; }  // floats
  std::int64_t bytes() const { return kHead + panels() * panel_step() * 4; }

  // `values` is k x n. Rounded to nearest; weights that hold Inf, NaN or extremes keep their upper 24 bits as they are.
  void pack(const float* values, void* packed) const;
  void unpack(const void* packed, float* values) const;  // what is multiplied, to the last bit

  // Nothing was rounded, and what stands below a weight has to go before use.
  static bool masked(const void* packed) { return *static_cast<const std::uint8_t*>(packed) != 0; }
  static const float* panel_0(const void* packed) { return reinterpret_cast<const float*>(static_cast<const char*>(packed) + kHead); }

 private:
  static constexpr std::int64_t kHead = 64;
  std::int64_t groups() const { return (k_ + 3) / 4; }
  std::int64_t word(std::int64_t k, std::int64_t n) const {  // of the first of the group's three words for this column
    return n / panel_ * panel_step() + k / 4 * 3 * panel_ + n % panel_;
  }
  std::int64_t k_, n_;
  int panel_;
};

}  // namespace tenfold::backends::cpu
