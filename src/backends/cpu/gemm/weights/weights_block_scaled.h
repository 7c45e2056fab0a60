// Weights of 4 or 8 bits with a scale for each block of a column, for kernels/gemm/block_scaled.h.
#pragma once

#include "backends/cpu/kernels/gemm/block_scaled.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cpu {

// The matrix is [k, n] of i4, u4, i8 or u8; scales and zero points are [blocks, n].
class WeightsBlockScaled {
 public:
  static constexpr std::int64_t kPanel = kBlockScaledPanel;
  WeightsBlockScaled() = default;
  // `scales_24`: scales are rounded to 24 bits, by at most 2^-16 of themselves; what is no ordinary number keeps its upper bits.
  WeightsBlockScaled(std::int64_t k, std::int64_t n, std::int64_t block, DType type, bool scales_24 = false)
      : k_(k), n_(n), block_(block), bits_(tenfold::bits(type)), signed_(type == DType::i4 || type == DType::i8),
        scales_24_(scales_24) {}

  std::int64_t panels() const { return (n_ + kPanel - 1) / kPanel; }
  std::int64_t blocks() const { return (k_ + block_ - 1) / block_; }
  BlockScaledBits bits() const { return bits_ == 4 ? kFourBits : kEightBits; }
  std::int64_t word_bytes() const { return panels() * words() * 4; }
  std::int64_t scale_bytes() const { return panels() * blocks() * kPanel * bytes_of_scale(); }
  std::int64_t zero_bytes() const { return panels() * blocks() * zeros_of_block(); }

  void pack(const Tensor& values, void* packed) const;
  void pack_scales(const Tensor& scales, void* packed) const;
  void pack_zeros(const Tensor& zeros, void* packed) const;
  Tensor unpack(const void* packed) const;   // each gives back what was packed
  Tensor unpack_scales(const void* packed) const;
  Tensor unpack_zeros(const void* packed) const;

  // As kernels read a panel; `zeros` is null where there are none.
  BlockScaledPanel panel(std::int64_t i, const void* packed, const void* scales, const void* zeros) const {
    return {.words = static_cast<const std::uint32_t*>(packed) + i * words(),
            .scales = static_cast<const char*>(scales) + i * blocks() * kPanel * bytes_of_scale(),
            .scales_24 = scales_24_,
            .zeros = zeros ? static_cast<const std::uint8_t*>(zeros) + i * blocks() * zeros_of_block() : nullptr,
            .zero = signed_ ? static_cast<float>(half()) : 0.f,
            .k = k_,
            .block = block_};
  }

 private:
  int half() const { return 1 << (bits_ - 1); }
  DType type() const { return bits_ == 4 ? (signed_ ? DType::i4 : DType::u4) : (signed_ ? DType::i8 : DType::u8); }
  std::int64_t of_word() const { return 32 / bits_; }
  std::int64_t words() const { return (k_ + of_word() - 1) / of_word() * kPanel; }   // of a panel
  std::int64_t zeros_of_block() const { return kPanel * bits_ / 8; }
  int shift(std::int64_t k) const;   // of a value in its word
  std::uint32_t stored(const Tensor& t, std::int64_t i) const;
  void store(Tensor& t, std::int64_t i, std::uint32_t value) const;
  template <class Word, class Visit>
  void each_row(Word* packed, Visit&& visit) const;
  template <class Visit>
  void each_zero(Visit&& visit) const;   // (index in the tensor, byte, bits to shift)
  template <class Visit>
  void each_scale(Visit&& visit) const;   // (index in the tensor, block, column)
  std::int64_t bytes_of_scale() const { return scales_24_ ? 3 : 4; }
  std::int64_t k_ = 0, n_ = 0, block_ = 1;
  int bits_ = 4;
  bool signed_ = false, scales_24_ = false;
};

}  // namespace tenfold::backends::cpu
