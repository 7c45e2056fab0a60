// Arrays of other element types than a model takes: NumPy's default is float64, and cameras give uint16.
#pragma once

#include "formats/arrays/npy.h"

namespace tenfold::formats {

struct Converted {
  Tensor tensor;
  std::string reported;   // what became of the elements, in one line; empty: they are as the array has them
};

// As to_tensor(array, wanted, what) where the array has NumPy's form of that type. Else numbers become the floats nearest to them, and
// integers other integers that hold them. Throws Error(io) for what cannot: floats for integers, a value out of range, strings.
Converted converted_to(const NpyArray& array, DType requested, const std::string& what);

// Axes of length 1 in front of an array that has fewer than the model declares (-1: any length), where the others fit; else nothing.
std::optional<Shape> with_leading_axes(const Shape& shape, const Shape& declared);

}  // namespace tenfold::formats
