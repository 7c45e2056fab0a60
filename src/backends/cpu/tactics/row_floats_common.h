// Rows of f32 or bf16 for kernels that compute on f32.
#pragma once

#include "backends/cpu/block/lower.h"
#include "backends/tactic.h"

namespace tenfold::backends::cpu {

class RowFloats {
 public:
  static bool has(DType type) { return type == DType::f32 || type == DType::bf16; }

  RowFloats() = default;
  RowFloats(const Problem& problem, DType type);
  bool narrow() const { return narrow_; }
  int bytes() const { return narrow_ ? 2 : 4; }
  const void* at(const void* data, std::int64_t i) const { return static_cast<const char*>(data) + i * bytes(); }
  void* at(void* data, std::int64_t i) const { return static_cast<char*>(data) + i * bytes(); }

  // Elements [first, first + count) as f32: those that are f32 where they lie, others in `memory`.
  const float* read(const void* data, std::int64_t first, std::int64_t count, float* memory) const noexcept {
    if (!narrow_) return static_cast<const float*>(data) + first;
    const PointwiseArg from{at(data, first), 0};
    widen_(memory, 0, &from, 0, 1, count);
    return memory;
  }
  // Where to compute such elements: in place if they are f32, else in `memory`, which done() then rounds into their place.
  float* place(void* data, std::int64_t first, float* memory) const noexcept {
    return narrow_ ? memory : static_cast<float*>(data) + first;
  }
  void done(void* data, std::int64_t first, std::int64_t count, const float* memory) const noexcept {
    const PointwiseArg from{memory, 0};
    if (narrow_) round_(at(data, first), 0, &from, 0, 1, count);
  }

 private:
  bool narrow_ = false;
  PointwiseKernel widen_ = nullptr, round_ = nullptr;
};

}  // namespace tenfold::backends::cpu
