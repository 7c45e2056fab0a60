// Large weights of a model file, copied by several threads once all of them are known.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::onnx_import {

class DeferredCopies {
 public:
  static constexpr std::size_t kWorth = 64 << 10;   // bytes from which on a copy is worth putting off
  // A tensor that holds nothing until copy(). `bytes` are as many as type and shape need, and live until then.
  Tensor tensor(DType type, const Shape& shape, std::span<const std::byte> bytes);
  // Copies all that tensors were made of.
  void copy();

 private:
  struct Copy {
    const std::byte* from;
    std::byte* to;
    std::size_t bytes;
    std::shared_ptr<void> block;   // that `to` lies in: the tensor may be gone by then, with a body that is refused
  };
  std::byte* place(std::size_t bytes);   // of block_
  std::vector<Copy> copies_;
  std::shared_ptr<void> block_;   // several tensors share one, which goes when none of them is used
  std::size_t used_ = 0, size_ = 0;
};

}  // namespace tenfold::onnx_import
