// An edited model as a file that is tied to no other one, but to its own data.
#pragma once

#include <cstddef>
#include <string>

#include "onnx_export/edit_model.h"

namespace tenfold::builder {

// Large tensors lie in OUTPUT.data if `aside` is set, or if the file would be larger than others read. Returns the bytes of both.
std::size_t write_model(onnx_export::Rope::Bytes model, const onnx_export::Edits& edits, onnx_import::ExternalData& external,
                        const std::string& output, bool aside);

}  // namespace tenfold::builder
