// NumPy's array format (.npy): header, then elements. NumPy lacks some of our types; those travel as integers of the same width.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tenfold/tensor.h"

namespace tenfold::formats {

struct NpyArray {
  char kind = 'f';  // as NumPy writes it: f i u b U
  int width = 4;    // bytes of an element; of a string: 4 for each character
  Shape shape;
  std::string_view data;  // little-endian, in C's order; lies in the bytes that were parsed, or in `own`
  std::shared_ptr<const std::string> own = {};
};

// Throw Error(io); `what` names the source in messages.
NpyArray parse_npy(std::string_view bytes, const std::string& what);
bool is_form_of(const NpyArray& array, DType type);
// The array as a tensor of `wanted`; refused unless it is NumPy's form of that type.
Tensor to_tensor(const NpyArray& array, DType requested, const std::string& what);
Tensor to_tensor(const NpyArray& array, const std::string& what);  // the type that the array itself names
std::string to_npy(const Tensor& tensor);

}  // namespace tenfold::formats
