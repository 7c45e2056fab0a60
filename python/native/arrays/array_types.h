// Element types under the names of others: buffer formats, NumPy, torch.
#pragma once

#include <string>

#include "native/arrays/arrays.h"

namespace tenfold::python {

// Of a buffer's format ("f", "<i8"). Raises ValueError for another byte order, TypeError for elements that no tensor has.
DType dtype_of_format(const char* format, std::int64_t item_size, const std::string& what);
const char* buffer_format(DType dtype);  // "f"; null: none that buffers have
Maker maker_of(nb::handle array);  // by the module of its type
bool has_torch_dtype(DType dtype);   // this torch
nb::object torch_dtype(DType dtype);

}  // namespace tenfold::python
