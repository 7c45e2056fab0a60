// Product: a matrix product or convolution with constant weights as oneDNN primitives, cut into parts that run apart, each on
// one thread. Bias and clamping are done by oneDNN; anything else follows in our own epilogue.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/tactic.h"

namespace tenfold::backends::cpu::onednn {

struct Clamp {
  float low, high;
};

// f32 y[m,n] = x[m,k] w[k,n], all dense.
struct MatrixProduct {
  std::int64_t m = 0, k = 0, n = 0;
};
// f32, one image of x and y channels-last, w as ONNX has it.
struct ConvGemm {
  ConvShape shape;
  Three in{1, 1, 1}, out{1, 1, 1};
  int rank = 2;   // spatial
};

// Part i computes rows [first, last) of y, from x at an offset: rows are those of the matrix, or along the first spatial axis.
struct Part {
  std::int64_t first = 0, last = 0;
  std::int64_t x_offset = 0, y_offset = 0;   // elements
};

class Product {
 public:
  // Null where oneDNN has no implementation. Weights are packed as the first part wants them.
  static std::shared_ptr<const Product> make(const MatrixProduct& product, std::int64_t parts, bool bias, std::optional<Clamp> clamp);
  static std::shared_ptr<const Product> make(const ConvGemm& product, std::int64_t parts, bool bias, std::optional<Clamp> clamp);
  virtual ~Product() = default;

  const std::vector<Part>& parts() const { return parts_; }
  virtual std::int64_t weight_bytes() const = 0;
  virtual void pack(const float* weight, void* packed) const = 0;
  virtual void unpack(const void* packed, float* weight) const = 0;
  virtual std::int64_t scratch_bytes() const = 0;   // of one worker, 64-byte aligned
  // One part, on this thread. oneDNN allocates a little in each call. Thread-safe.
  virtual Status::Code run(std::size_t part, const float* x, const void* w, const float* bias, float* y, void* scratch) const noexcept = 0;

 protected:
  std::vector<Part> parts_;
};

}  // namespace tenfold::backends::cpu::onednn
