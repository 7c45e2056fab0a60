// Tensors and bindings as DLPack structs and back, without a copy where that is possible.
#pragma once

#include <memory>

#include "tenfold/c/dlpack.h"
#include "tenfold/device_array.h"
#include "tenfold/engine.h"
#include "tenfold/tensor.h"

namespace tenfold {

// DLPack's type of an element, and back. Throw unsupported for strings, and for what Tenfold has no type for (complex numbers, several
// lanes). Types of 4 and 2 bits are packed low bits first on both sides.
TENFOLD_API DLDataType dlpack_type(DType type);
TENFOLD_API DType type_of_dlpack(DLDataType type);

// The tensor's bytes, shared: the struct keeps them alive until its deleter is called, from any thread. Marked read-only, since other
// tensors may have them, too (the form without a version cannot say so).
TENFOLD_API DLManagedTensorVersioned* to_dlpack(const Tensor& tensor);
TENFOLD_API DLManagedTensor* to_dlpack_unversioned(const Tensor& tensor);

// The array's memory, shared, where it lies. It may be written to.
TENFOLD_API DLManagedTensorVersioned* to_dlpack(const DeviceArray& array);
TENFOLD_API DLManagedTensor* to_dlpack_unversioned(const DeviceArray& array);

// Takes the struct over: its deleter is called when the last tensor of these bytes goes, or at once where they are copied because the
// strides are not dense. Throws invalid_argument, and then leaves the struct to the caller: null, of another major version, on a GPU
// (bind_dlpack() takes those), of a shape that cannot be.
TENFOLD_API Tensor from_dlpack(DLManagedTensorVersioned* managed);
TENFOLD_API Tensor from_dlpack(DLManagedTensor* managed);

// Binds the memory where it lies, with its strides (tenfold/bindings.h: bind_strided), and sets the shape of an input. The caller keeps
// it alive and calls no deleter before the runs are over. Refused: another type, a read-only tensor for an output, another GPU's memory.
TENFOLD_API Status bind_dlpack(ExecutionContext& context, int binding, const DLTensor& tensor) noexcept;
TENFOLD_API Status bind_dlpack(ExecutionContext& context, int binding, const DLManagedTensorVersioned& managed) noexcept;

// A binding's own memory (ExecutionContext::own_memory(); `on_device`: the GPU's, device_memory()) at the shape it has now. The struct
// keeps the memory alive, the context's next run writes it again. Throws invalid_argument while the shape is not known.
TENFOLD_API DLManagedTensorVersioned* binding_to_dlpack(ExecutionContext& context, int binding, bool on_device = false);

}  // namespace tenfold
