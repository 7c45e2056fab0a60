// What tensors of torch are at this moment, asked of torch's own C and C++ functions: a question takes nanoseconds, where Python's takes a
// hundred. The functions are found by name in the library that torch has loaded; a torch without them is asked by Python.
#pragma once

#include "native/native.h"

namespace tenfold::python {

// The functions, and where a tensor of Python's holds its torch::Tensor. None of it is trusted for a tensor before its answers have been
// compared with Python's.
struct TensorFunctions {
  std::int64_t (*version)(const void* tensor) = nullptr;       // at::TensorBase::_version() const
  std::int32_t (*address)(void* tensor, void** to) = nullptr;  // aoti_torch_get_data_ptr, of torch's stable C functions
  std::size_t place = 0;                                       // in Python's object, of a pointer to the tensor's C++ part

  void* tensor_in(nb::handle object) const { return reinterpret_cast<std::byte*>(object.ptr()) + place; }
  const void* part_of(nb::handle object) const { return *static_cast<void* const*>(tensor_in(object)); }
};

// Null: this torch is asked by Python. `tensor` is a plain one, by which the place is found.
const TensorFunctions* tensor_functions(nb::handle tensor);

std::int64_t version_of(nb::handle tensor);      // tensor._version, by Python
const std::byte* address_of(nb::handle tensor);  // tensor.data_ptr(), by Python

}  // namespace tenfold::python
