// Class labels of ai.onnx.ml: integers, or strings.
#pragma once

#include <string_view>
#include <unordered_map>

#include "ir/op_def.h"

namespace tenfold::ops {

// The list that the attributes hold, as a tensor of rank 1: strings, or i64. Throws a fault unless there is exactly one.
Tensor class_labels(const ir::Attributes& attributes, const std::string& integers, const std::string& strings);
Tensor picked(const Tensor& list, const std::vector<std::int64_t>& indices);   // of rank 1

// Where each key of a list stands. Numbers of two types are compared as doubles; NaN is one key, and so are both zeros.
class KeyPlaces {
 public:
  KeyPlaces(const Tensor& keys, DType requested);   // keeps the keys
  std::int64_t find(const Tensor& elements, std::int64_t i) const;   // the first place; -1: it is none of the keys

 private:
  std::uint64_t bits_of(const Tensor& t, std::int64_t i) const;
  Tensor keys_;
  bool words_ = false, real_ = false;
  std::unordered_map<std::string_view, std::int64_t> by_word_;
  std::unordered_map<std::uint64_t, std::int64_t> by_bits_;
};

}  // namespace tenfold::ops
