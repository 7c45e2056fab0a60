// Writes the ONNX file of a model as a session of ONNX Runtime's form has it: whole, and with the caller's weights.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tenfold/build.h"
#include "tenfold/export.h"

namespace tenfold {

// What `output` holds is tied to no other file but OUTPUT.data, which is written beside it where the model would be larger
// than 2 GiB. Of the configuration, external_data_dirs and initializers count. Throw Error: io for a file that cannot be
// read or written, invalid_model for bytes that are no ONNX model, invalid_argument for an initializer that is none.
TENFOLD_API void write_model(const std::string& onnx_path, const std::string& output, const BuildConfig& config);
TENFOLD_API void write_model(std::span<const std::byte> onnx, const std::string& output, const BuildConfig& config);

}  // namespace tenfold
