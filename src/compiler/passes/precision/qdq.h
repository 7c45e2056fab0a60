// QuantizeLinear and DequantizeLinear as the passes on quantized graphs read them.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tenfold::passes {

// The constant parameters of a QuantizeLinear or DequantizeLinear between f32 and 8 bits (integers of 16 bits too).
struct Params {
  std::vector<float> scales;            // one, or one per slice along `axis`
  std::vector<std::int32_t> zeros;      // as many
  int axis = 0;
  DType dtype = DType::u8;              // the quantized type
  bool per_tensor() const { return scales.size() == 1; }
  bool operator==(const Params&) const = default;
};
// Null: neither, blocked, not constant, other types; e4m3 counts as another one unless it is asked for.
std::optional<Params> params_of(const ir::Node* node, bool float8 = false);
bool is_quantize(const ir::Node* node);
bool is_dequantize(const ir::Node* node);
bool is_quantized(const ir::Graph& graph);   // it has DequantizeLinear nodes outside of bodies

}  // namespace tenfold::passes
