// An ONNX file with QuantizeLinear and DequantizeLinear made from a plain one, which other engines run, too (tenfold quantize).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/build.h"
#include "tenfold/export.h"
#include "tenfold/quantize.h"

namespace tenfold {

// Whose rules a file is written by. Weights are i8 with a scale for each output channel in all of them.
//   any          activations i8 around zero, biases of f32: what TensorRT takes, and the others read
//   onnxruntime  activations u8, with zero points where they may be negative, biases i32: it computes others in floats
//   openvino     activations u8 where they are never negative, else i8 around zero; biases of f32
enum class QuantizeFor { any, onnxruntime, openvino };

struct QuantizeOptions {
  QuantizeFor reader = QuantizeFor::any;
  // Products that stay in floats, by the names of their nodes; one '*' at most stands for any text. A pattern that fits no product throws
  // invalid_argument.
  std::vector<std::string> exclude = {};
  bool external_data = false;   // new weights lie in OUTPUT.data beside the file; else only where the file would exceed 2 GiB
};

struct QuantizeReport {
  CalibrationReport calibration;   // its errors are those of the file that is written, run on the CPU
  int products = 0, quantised = 0;
  // Products that stay in floats, and why, in words that follow "because".
  struct Left { std::string why; std::vector<std::string> nodes; };
  std::vector<Left> left;
  std::int64_t bytes_before = 0, bytes_after = 0;   // of the files, with the external data that they use
  int opset_before = 0, opset_after = 0;            // of ai.onnx
};

// Writes `output`: the ONNX file `model` with Q/DQ around the products that 8 bits stand for. Names, metadata, functions and whatever else
// the file holds stay; weights that are not quantised stay where they are. Of `config` it takes what is about the model (profiles,
// external_data_dirs, overridable, plugins), threads, cpu_features, log, and `calibration`, which must be there; without profiles the
// samples' shapes are taken. Nothing is written unless all went well. Throws invalid_argument: the output is the model itself, or lies in
// another folder than the external data that it goes on using. Throws unsupported: no product can be quantised, or the file's opset is
// below 13 and nodes stand in the way of raising it; they are named.
TENFOLD_API QuantizeReport quantize_file(const std::string& model, const std::string& output, const BuildConfig& config,
                                         const QuantizeOptions& options = {});

}  // namespace tenfold
