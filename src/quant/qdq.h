// The precision stage on graphs that are quantised already: Q/DQ nodes become integer products and pointwise bodies.
#pragma once

#include <optional>
#include <vector>

#include "passes/pass.h"

namespace tenfold::quant {

// In order; to be run by passes::run between the canonical and the fusing passes. Leaves no QuantizeLinear or DequantizeLinear with
// constant scales behind. `unsign`: for a CPU whose products want unsigned activations.
std::vector<passes::Pass> qdq_passes(bool unsign = true);
// On a GPU only products that its tensor cores take become integer ones, and e4m3 is a type to compute with.
std::vector<passes::Pass> qdq_passes_for_gpu(bool int8, bool fp8);

passes::Pass pass_unsign_qdq();         // signed activations become unsigned ones
passes::Pass pass_move_qdq();           // dequantisation sinks past movement and maximum pooling; pairs that undo each other go away
passes::Pass pass_fold_qdq();           // products of dequantised operands become integer products
passes::Pass pass_fold_qdq_for_gpu();   // ... where tensor cores take them
passes::Pass pass_fold_float8();        // ... and products of e4m3
passes::Pass pass_remove_qdq();         // quantisation around products that stay float goes away
passes::Pass pass_lower_qdq();          // what is left becomes pointwise bodies or constants
passes::Pass pass_lower_qdq_for_gpu();  // e4m3 too

// The constant parameters of a QuantizeLinear or DequantizeLinear between f32 and 8 bits (integers of 16 bits too).
struct Params {
  std::vector<float> scales;            // one, or one per slice along `axis`
  std::vector<std::int32_t> zeros;      // as many
  int axis = 0;
  DType dtype = DType::u8;              // the quantised type
  bool per_tensor() const { return scales.size() == 1; }
  bool operator==(const Params&) const = default;
};
// Null: neither, blocked, not constant, other types; e4m3 counts as another one unless it is asked for.
std::optional<Params> params_of(const ir::Node* node, bool float8 = false);
bool is_quantize(const ir::Node* node);
bool is_dequantize(const ir::Node* node);

}  // namespace tenfold::quant
