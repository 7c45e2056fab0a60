// Types of values: a tensor of logical dims, or sequences, optionals and maps around one. No layout, no scale, no place: those are choices.
#pragma once

#include <array>
#include <string>

#include "ir/dim.h"
#include "tenfold/tensor.h"

namespace tenfold::ir {

struct TensorType {
  DType dtype = DType::f32;
  Dims dims;
  bool operator==(const TensorType&) const = default;
};

// A type is a chain: whatever stands around a tensor holds one type, so that layers from the outermost one inwards tell all of it. There
// are kMaxLayers of them at most: types from files are neither deep nor cyclic.
struct ValueType {
  enum class Kind : std::uint8_t { tensor, sequence, optional, map, count_ };
  struct Layer {
    Kind kind = Kind::tensor;
    DType key = DType::f32;                   // of a map
    bool operator==(const Layer&) const = default;
  };
  Kind kind = Kind::tensor;                   // of the outermost layer; tensor: there is none
  DType key = DType::f32;                     // of the outermost layer, if it is a map
  std::array<Layer, 3> inner = {};            // the layers in it, then as many that say `tensor`
  TensorType tensor;                          // innermost
  bool ranked = true;                         // false: not even the number of dims is known
  bool unfilled = false;                      // nothing was put into this sequence yet, so that elements of any shape suit; not ranked
  bool operator==(const ValueType&) const = default;

  bool is_tensor() const { return kind == Kind::tensor; }
  bool holds_numbers() const { return is_tensor() && tensor.dtype != DType::string; }   // or booleans: what kernels compute with
  ValueType element() const;                  // what a sequence, optional or map holds
  // The same without what is known of shapes, for comparing kinds.
  ValueType without_dims() const;
};
inline constexpr std::size_t kMaxLayers = 4;
ValueType sequence_of(ValueType element);     // these throw unsupported for too many layers
ValueType optional_of(ValueType element);
ValueType map_of(DType key, ValueType element);

std::string text(const TensorType& type);   // "f32[batch,128,384]", "i64[]" for a scalar
std::string text(const ValueType& type);    // "seq(map(i64,f32[]))", "opt(f32[2])", "f32[?]" if not ranked, "f32[-]" if unfilled
ValueType parse_type(std::string_view text);

// Where the value of a symbol comes from: an input's shape, or a step that the host computes.
enum class Origin : std::uint8_t { input_dim, host_value, count_ };
struct Symbol {
  std::string name;
  Dim lower = Dim(0), upper = Dim(kUnbounded);
  Origin origin = Origin::input_dim;
};

}  // namespace tenfold::ir
