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

// Whose rules a file is written by. Weights are i8 with a scale for each output channel in all of them.
//   any          activations i8 around zero, biases of f32: what TensorRT takes, and the others read
//   onnxruntime  activations u8, with zero points where they may be negative, biases i32: it computes others in floats
//   openvino     activations u8 where they are never negative, else i8 around zero; biases of f32
enum class QuantizeFor { any, onnxruntime, openvino };

// What products become. The last three narrow weights alone, by groups of a column that share a scale; they need no samples, but with
// samples weights are rounded by GPTQ (Frantar 2023), alone or behind AWQ (Lin 2024), where the outputs are
// nearer to the model's then.
//   int8      data and weights of 8 bits
//   fp8       data and weights of e4m3, both around zero: opset 19. Ranges are by "minmax" where the method is "auto".
//   int4      weights of 4 bits behind a DequantizeLinear with blocks: opset 21. i4 around zero, for `any`; else u4 with zero points
//   nbits4    products become com.microsoft's MatMulNBits with weights of 4 bits; MatMul alone, whoever reads it
//   nbits8    likewise of 8 bits
enum class QuantizeType { int8, fp8, int4, nbits4, nbits8 };

struct QuantizeOptions {
  QuantizeFor reader = QuantizeFor::any;
  QuantizeType type = QuantizeType::int8;
  // Of weights alone: how many elements of a column share a scale, a power of two from 16 on for MatMulNBits, else 2 or more. Products
  // whose columns it does not divide stay in floats.
  std::int64_t group = 32;
  // int8: weights within [-64, 63], for processors whose products of bytes saturate at 16 bits: ONNX Runtime's on x86 without VNNI.
  bool reduce_range = false;
  // Products that stay in floats, by the names of their nodes; one '*' at most stands for any text. A pattern that fits no product throws
  // invalid_argument.
  std::vector<std::string> exclude = {};
  bool external_data = false;  // weights of 1 KiB and more that are new, or external data of the model, lie in OUTPUT.data beside the
                               // file; else they lie in the file, unless it would exceed 2 GiB
};

struct QuantizeReport {
  CalibrationReport calibration;   // its errors are those of the file that is written, run on the CPU
  std::optional<BudgetReport> budget;   // with BuildConfig::budget. Its layers are the products, its plans the files that were tried.
  int products = 0, quantized = 0;
  // Products that stay in floats, and why, in words that follow "because".
  struct Left { std::string why; std::vector<std::string> nodes; };
  std::vector<Left> left;
  std::int64_t bytes_before = 0, bytes_after = 0;   // of the files, with the external data that they use
  int opset_before = 0, opset_after = 0;            // of ai.onnx
};

// Writes `output`: the ONNX file `model` with its products quantized. Names, metadata, functions and whatever else the file
// holds stay. Of the model's external data it holds what it still needs, and it names none of their files. Of `config` it
// takes what is about the model (profiles, external_data_dirs, overridable, plugins), threads, cpu_features, log,
// `calibration`, without which only weights alone become narrower, and `budget`: products that cost most stay in floats then,
// as many as it takes for the file's error, measured, to be within the bound. Without profiles the samples' shapes are taken.
// Nothing is written unless all went well. Throws invalid_argument: the output is the model itself or its external data.
// Throws unsupported: no product can be quantized, or none within the budget; or the file's opset is below what the type
// needs and nodes stand in the way of raising it; they are named.
TENFOLD_API QuantizeReport quantize_file(const std::string& model, const std::string& output, const BuildConfig& config,
                                         const QuantizeOptions& options = {});

}  // namespace tenfold
