// Weights of 4 or 8 bits with a scale for each block of a column, for kernels/gemm/block_scaled.h.
#pragma once

#include "backends/cpu/kernels/gemm/block_scaled.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cpu {

// The matrix is [k, n] of i4, u4, f4e2m1, i8 or u8; scales and zero points are [blocks, n]. Scales are f32, or f8e8m0 or f8e4m3fn.
class WeightsBlockScaled {
 public:
  static constexpr std::int64_t kPanel = kBlockScaledPanel;
  WeightsBlockScaled() = default;
  // kF24Scales: scales of f32 are rounded to 24 bits, by at most 2^-16 of themselves; what is no ordinary number keeps its upper bits.
  WeightsBlockScaled(std::int64_t k, std::int64_t n, std::int64_t block, DType type, BlockScaledScales scales = kF32Scales,
                     float factor = 1)
      : k_(k),
        n_(n),
        block_(block),
        type_(type),
        bits_(tenfold::bits(type)),
        signed_(type == DType::i4 || type == DType::i8),
        scales_(scales),
        factor_(factor) {}

  std::int64_t panels() const { return (n_ + kPanel - 1) / kPanel; }
  std::int64_t blocks() const { return (k_ + block_ - 1) / block_; }
  BlockScaledBits bits() const { return bits_ == 4 ? kFourBits : kEightBits; }
  BlockScaledValues values(bool zeros) const { return zeros ? kZeroOfBlock : type_ == DType::f4e2m1 ? kE2m1 : kOneZero; }
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
            .scale_type = scales_,
            .factor = factor_,
            .zeros = zeros ? static_cast<const std::uint8_t*>(zeros) + i * blocks() * zeros_of_block() : nullptr,
            .zero = signed_ ? static_cast<float>(half()) : 0.f,
            .k = k_,
            .block = block_};
  }

 private:
  int half() const { return 1 << (bits_ - 1); }
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
  std::int64_t bytes_of_scale() const { return scales_ == kF32Scales ? 4 : scales_ == kF24Scales ? 3 : 1; }
  std::int64_t k_ = 0, n_ = 0, block_ = 1;
  DType type_ = DType::i4;
  int bits_ = 4;
  bool signed_ = false;
  BlockScaledScales scales_ = kF32Scales;
  float factor_ = 1;
};

}  // namespace tenfold::backends::cpu
