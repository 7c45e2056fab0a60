// Large weights of a model, kept out of protobuf's hands: it would copy them one after the other, in one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::onnx_import {

class LargeData {
 public:
  explicit LargeData(bool mapped) : mapped_(mapped) {}   // whether the model is a mapped file, whose pages come back when they are read
  // A model's bytes without the large raw data of the main graph's initializers, of which numbers are left (TensorProto.large_data). Empty:
  // there are none, or the bytes are no model as far as seen here; then protobuf reads, and complains of, the bytes themselves.
  std::string take_from(std::span<const std::byte> model);
  // A tensor of data `number`, which holds nothing until read().
  Tensor tensor(DType type, const Shape& shape, std::uint64_t number);
  std::span<const std::byte> bytes(std::uint64_t number) const;
  // Copies all that tensors were made of, and lets go of the pages that it came from, if they are a file's.
  void read();

 private:
  struct Copy { const std::byte* from; std::byte* to; std::size_t bytes; };
  std::byte* place(std::size_t bytes);   // of block_
  bool mapped_;
  std::vector<std::span<const std::byte>> data_;
  std::vector<Copy> copies_;
  std::shared_ptr<void> block_;   // several tensors share one, which goes when none of them is used
  std::size_t used_ = 0, size_ = 0;
};

}  // namespace tenfold::onnx_import
