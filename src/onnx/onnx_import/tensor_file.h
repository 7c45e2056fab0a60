// Values stored as protobuf files (.pb), as the ONNX test suite and `--loadInputs` have them.
#pragma once

#include <filesystem>

#include "ops/interpret.h"

namespace tenfold::onnx_import {

Tensor read_tensor_proto(const std::filesystem::path& path);
// The file does not say which message it holds: `kind` does. An empty optional is an empty value.
ops::RuntimeValue read_value(const std::filesystem::path& path, ir::ValueType::Kind kind);

}  // namespace tenfold::onnx_import
