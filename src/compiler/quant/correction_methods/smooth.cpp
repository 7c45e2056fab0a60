// smooth: what makes channels of an operand wide goes into the weights (SmoothQuant, Xiao et al. 2023, arXiv 2211.10438). The strength is
// each operand's own, by the error of its products. A norm takes the factors in where nobody else reads it; else a multiplication stands in
// front of the rounding, which has to gain more.
#include "quant/correction_method.h"
#include "quant/scale_channels.h"

namespace tenfold::quant {
namespace {

// What only moves elements is quantized where they come from: a multiplication behind it would be in the way.
bool is_for(const ir::Graph& graph, const DataOperand& operand) {
  const ir::Value& x = *operand.value;
  return operand.channels_last && made_by(graph, x) != MadeBy::product && (!x.producer || !passes_on(*x.producer));
}
std::optional<Ranges> apply(const CorrectionInput& input) { return with_scaled_channels(input, is_for, 0.3); }

}  // namespace

CorrectionMethod correction_method_smooth() { return {"smooth", apply}; }

}  // namespace tenfold::quant
