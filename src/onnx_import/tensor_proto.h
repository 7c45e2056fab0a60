// TensorProto to Tensor: every encoding of the standard, with the byte count checked against the shape before any read.
#pragma once

#include <onnx_subset.pb.h>

#include "onnx_import/external_data.h"
#include "onnx_import/large_data.h"
#include "tenfold/tensor.h"

namespace tenfold::onnx_import {

inline constexpr int kMaxRank = 64;

// Checks rank, signs and the product.
Shape tensor_shape(const google::protobuf::RepeatedField<std::int64_t>& dims);

// Large payloads are moved out of `proto` or borrowed from the mapped file, not copied; with `keep`, proto stays whole (a function's
// body is read once for each call). `files` null: external data is refused. Sparse tensors are made dense. `large`: what was taken out of
// the message, to be read later.
Tensor to_tensor(onnx::TensorProto& proto, ExternalData* files, bool keep = false, LargeData* large = nullptr);
Tensor to_tensor(onnx::SparseTensorProto& proto, ExternalData* files, bool keep = false);

}  // namespace tenfold::onnx_import
