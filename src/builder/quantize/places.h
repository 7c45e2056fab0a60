// Where a quantised file may lie, and what it refers to.
#pragma once

#include <set>
#include <string>

#include "onnx_import/messages.h"

namespace tenfold::builder {

namespace onnx = onnx_import::onnx;

// Throws invalid_argument: the output is the model itself or its external data, or lies in another folder than external data that the
// model has: a file names them relative to its own folder.
void expect_places(const std::string& model_path, const std::string& output, const onnx::ModelProto& model);

// Of external data that the model uses, but for initializers of these names.
std::int64_t external_bytes(const onnx::ModelProto& model, const std::set<std::string, std::less<>>& left_out);

}  // namespace tenfold::builder
