// Where a quantized file may lie, and what it refers to.
#pragma once

#include <string>

#include "onnx_import/messages.h"

namespace tenfold::builder {

namespace onnx = onnx_import::onnx;

// Throws invalid_argument: the output is the model itself or its external data.
void expect_places(const std::string& model_path, const std::string& output, const onnx::ModelProto& model);

std::int64_t external_bytes(const onnx::ModelProto& model);  // that the model uses

}  // namespace tenfold::builder
