// Rows of one element type as rows of another.
#pragma once

#include <cstdint>

#include "tenfold/tensor.h"

namespace tenfold::windows {

using ConvertRow = void (*)(const void* from, void* to, std::int64_t count);
// To f32, from any type of whole bytes but f8; null: there is none.
ConvertRow row_to_f32(DType from);
// Between types that images and windows may have (SlidingWindow::cut); null: no such pair.
ConvertRow row_converter(DType from, DType to);
// One value as an element of `type`. Throws invalid_argument where an integer type does not have it.
void store_value(double value, DType type, void* to);

}  // namespace tenfold::windows
