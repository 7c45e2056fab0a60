// Types of values: a tensor of logical dims, or a sequence or optional of it. No layout, no scale, no place: those are choices.
#pragma once

#include <string>

#include "ir/dim.h"
#include "tenfold/tensor.h"

namespace tenfold::ir {

struct TensorType {
  DType dtype = DType::f32;
  Dims dims;
  bool operator==(const TensorType&) const = default;
};

struct ValueType {
  enum class Kind : std::uint8_t { tensor, sequence, optional, optional_sequence, count_ };
  Kind kind = Kind::tensor;
  TensorType tensor;      // of the element, for sequences and optionals
  bool ranked = true;     // false: not even the number of dims is known (allowed at import, refused when planning)
  bool operator==(const ValueType&) const = default;
};

std::string text(const TensorType& type);   // "f32[batch,128,384]", "i64[]" for a scalar
std::string text(const ValueType& type);    // "seq(f32[2])", "opt(f32[2])", "f32[?]" if not ranked
ValueType parse_type(std::string_view text);

// Where the value of a symbol comes from: an input's shape, or a step that the host computes.
enum class Origin : std::uint8_t { input_dim, host_value, count_ };
struct Symbol {
  std::string name;
  Dim lower = Dim(0), upper = Dim(kUnbounded);
  Origin origin = Origin::input_dim;
};

}  // namespace tenfold::ir
