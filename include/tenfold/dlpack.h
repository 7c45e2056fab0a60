// Converts tensors and bindings to DLPack structs and back, without a copy where that is possible.
#pragma once

#include <memory>

#include "tenfold/c/dlpack.h"
#include "tenfold/device_array.h"
#include "tenfold/engine.h"
#include "tenfold/tensor.h"

namespace tenfold {

// DLPack's type for an element type, and back. They throw unsupported for strings, and for types that Tenfold lacks
// (complex numbers, several lanes). Both sides pack types of 4 and 2 bits low bits first.
TENFOLD_API DLDataType dlpack_type(DType type);
TENFOLD_API DType type_of_dlpack(DLDataType type);

// The struct shares the tensor's bytes, and keeps them alive until its deleter is called, from any thread. It is marked
// read-only, since other tensors may share the bytes, too. (The form without a version cannot say so.)
TENFOLD_API DLManagedTensorVersioned* to_dlpack(const Tensor& tensor);
TENFOLD_API DLManagedTensor* to_dlpack_unversioned(const Tensor& tensor);

// The struct shares the array's memory, which may be written to.
TENFOLD_API DLManagedTensorVersioned* to_dlpack(const DeviceArray& array);
TENFOLD_API DLManagedTensor* to_dlpack_unversioned(const DeviceArray& array);

// Takes over the struct. Its deleter is called when the last tensor of these bytes is gone, or at once where the bytes
// are copied because the strides are not dense. Throws invalid_argument for a null pointer, another major version,
// memory on a GPU (bind_dlpack() takes that), or an impossible shape. The struct stays the caller's then.
TENFOLD_API Tensor from_dlpack(DLManagedTensorVersioned* managed);
TENFOLD_API Tensor from_dlpack(DLManagedTensor* managed);

// Binds the struct's memory with its strides (tenfold/bindings.h: bind_strided), and sets the shape if the binding is
// an input. The caller keeps the memory alive, and calls no deleter before the runs have ended. Refuses another type, a
// read-only tensor for an output, and memory of another GPU.
TENFOLD_API Status bind_dlpack(ExecutionContext& context, int binding, const DLTensor& tensor) noexcept;
TENFOLD_API Status bind_dlpack(ExecutionContext& context, int binding, const DLManagedTensorVersioned& managed) noexcept;

// The context's own memory of a binding at the shape that it has now: own_memory(), or with `on_device`
// device_memory(). The struct keeps the memory alive. The context's next run writes it again. Throws invalid_argument
// while the shape is not known.
TENFOLD_API DLManagedTensorVersioned* binding_to_dlpack(ExecutionContext& context, int binding, bool on_device = false);

}  // namespace tenfold
