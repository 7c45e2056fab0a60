// TensorProto to Tensor: every encoding of the standard, with the byte count checked against the shape before any read.
#pragma once

#include "onnx_import/deferred_copies.h"
#include "onnx_import/external_data.h"
#include "onnx_import/messages.h"
#include "tenfold/tensor.h"

namespace tenfold::onnx_import {

inline constexpr int kMaxRank = 64;

// Checks rank, signs and the product.
Shape tensor_shape(const std::vector<std::int64_t>& dims);

// External data are borrowed from their file; `files` null: they are refused. Large raw data are copied by later->copy(), or at once
// if `later` is null. Sparse tensors are made dense.
Tensor to_tensor(const onnx::TensorProto& proto, ExternalData* files, DeferredCopies* later = nullptr);
Tensor to_tensor(const onnx::SparseTensorProto& proto, ExternalData* files);

}  // namespace tenfold::onnx_import
