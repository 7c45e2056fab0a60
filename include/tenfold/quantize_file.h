// An ONNX file with QuantizeLinear and DequantizeLinear made from a plain one, which other engines run, too (tenfold quantize).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenfold/build.h"
#include "tenfold/export.h"
#include "tenfold/quantize.h"

namespace tenfold {

// The target engine of a file. Weights are always i8 with a scale for each output channel.
//   any          symmetric i8 activations, f32 biases: for TensorRT, and readable by the others
//   onnxruntime  u8 activations, with zero points where they may be negative, i32 biases: it runs other forms in floats
//   openvino     u8 activations where they are never negative, else symmetric i8; f32 biases
enum class QuantizeFor { any, onnxruntime, openvino };

// The type of GEMMs and convolutions. The last three are weight-only, with a scale for each group of a column. They need no samples; with
// samples, weights are rounded by GPTQ (Frantar 2023), alone or after AWQ (Lin 2024), if the outputs are closer to the model's.
//   int8      int8 data and weights
//   fp8       e4m3 data and weights, both symmetric: opset 19. Ranges are by "minmax" if the method is "auto".
//   int4      4-bit weights with a blocked DequantizeLinear: opset 21. Symmetric i4 for `any`; else u4 with zero points
//   nbits4    com.microsoft's MatMulNBits with 4-bit weights; MatMul only, for any target
//   nbits8    the same with 8-bit weights
enum class QuantizeType { int8, fp8, int4, nbits4, nbits8 };

struct QuantizeOptions {
  QuantizeFor reader = QuantizeFor::any;
  QuantizeType type = QuantizeType::int8;
  // Weight-only types: elements of a column per scale, a power of two from 16 on for MatMulNBits, else 2 or more. Layers whose columns
  // are not a multiple of it stay in floats.
  std::int64_t group = 32;
  // int8: weights within [-64, 63], for ONNX Runtime on x86 without VNNI, whose int8 GEMMs saturate at 16 bits.
  bool reduce_range = false;
  // Nodes that stay in floats, by name; at most one '*' matches any text. A pattern that matches no GEMM or convolution throws
  // invalid_argument.
  std::vector<std::string> exclude = {};
  bool external_data = false;  // new weights of 1 KiB and more, and external data of the model, are written to OUTPUT.data beside
                               // the file; else to the file, unless it would exceed 2 GiB
};

struct QuantizeReport {
  CalibrationReport calibration;   // its errors are those of the file that is written, run on the CPU
  std::optional<BudgetReport> budget;   // with BuildConfig::budget. Its layers are those that can be quantized, its plans the files.
  int layers = 0, quantized = 0;   // GEMMs and convolutions
  // Layers that stay in floats, and why, in words that follow "because".
  struct Left { std::string why; std::vector<std::string> nodes; };
  std::vector<Left> left;
  std::int64_t bytes_before = 0, bytes_after = 0;   // of the files, with the external data that they use
  int opset_before = 0, opset_after = 0;            // of ai.onnx
};

// Writes `output`: the ONNX file `model` with its GEMMs and convolutions quantized. Names, metadata, functions and
// everything else in the file are kept. External data that is still needed is copied, so that it refers to no file of the
// model. Of `config` it uses what concerns the model (profiles, external_data_dirs, overridable, plugins), threads,
// cpu_features, log, `calibration` (without it only weight-only types are possible) and `budget`: then the layers that cost
// most error stay in floats, as many as the file's measured error requires. Without profiles the samples' shapes are used.
// Nothing is written unless everything succeeded. Throws invalid_argument: the output is the model itself or its external
// data. Throws unsupported: no layer can be quantized, or none within the budget; or the type needs a newer opset and the
// named nodes prevent the conversion.
TENFOLD_API QuantizeReport quantize_file(const std::string& model, const std::string& output, const BuildConfig& config,
                                         const QuantizeOptions& options = {});

}  // namespace tenfold
