// equalize: channels between two products in a row become alike in range (Nagel et al. 2019, arXiv 1906.04721), by what the data shows of
// them. The first product's weights have a scale for each output channel, which takes the factors in; those of the second take the inverse.
#include "quant/correction_method.h"
#include "quant/scale_channels.h"

namespace tenfold::quant {
namespace {

bool is_for(const ir::Graph& graph, const DataOperand& operand) { return made_by(graph, *operand.value) == MadeBy::product; }
std::optional<Ranges> apply(const CorrectionInput& input) { return with_scaled_channels(input, is_for, 0.02); }

}  // namespace

CorrectionMethod correction_method_equalize() { return {"equalize", apply}; }

}  // namespace tenfold::quant
