// The newest versions of the standard whose forms are known: what the import reads without a warning, and what a file may be raised to.
#pragma once

#include <cstdint>

namespace tenfold::onnx_import {

inline constexpr std::int64_t kNewestIr = 14;
inline constexpr int kNewestOpset = 28;   // of ai.onnx; standard_attributes.cpp goes as far

}  // namespace tenfold::onnx_import
