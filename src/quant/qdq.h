// The precision stage on graphs that are quantised already: Q/DQ nodes become integer products and pointwise bodies.
#pragma once

#include <optional>
#include <vector>

#include "passes/pass.h"

namespace tenfold::quant {

// In order; to be run by passes::run between the canonical and the fusing passes. Leaves no QuantizeLinear or DequantizeLinear with
// constant scales behind.
std::vector<passes::Pass> qdq_passes();

passes::Pass pass_move_qdq();    // dequantisation sinks past movement and maximum pooling; pairs that undo each other go away
passes::Pass pass_fold_qdq();    // products of dequantised operands become integer products
passes::Pass pass_remove_qdq();  // quantisation around products that stay float goes away
passes::Pass pass_lower_qdq();   // what is left becomes pointwise bodies or constants

// The constant parameters of a QuantizeLinear or DequantizeLinear between f32 and 8 bits.
struct Params {
  std::vector<float> scales;            // one, or one per slice along `axis`
  std::vector<std::int32_t> zeros;      // as many
  int axis = 0;
  DType dtype = DType::u8;              // the quantised type
  bool per_tensor() const { return scales.size() == 1; }
  bool operator==(const Params&) const = default;
};
std::optional<Params> params_of(const ir::Node* node);   // null: neither, blocked, not constant, other types
bool is_quantize(const ir::Node* node);
bool is_dequantize(const ir::Node* node);

}  // namespace tenfold::quant
