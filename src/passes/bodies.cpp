// Composing the bodies of pointwise nodes.
#include "passes/bodies.h"

#include <algorithm>

namespace tenfold::passes {

std::optional<ir::Body> body_of(const ir::Node& n) {
  if (n.outputs.size() != 1 || !n.graphs.empty()) return std::nullopt;
  for (const ir::Value* v : n.inputs)
    if (!v || v->type.kind != ir::ValueType::Kind::tensor || v->dtype() == DType::string) return std::nullopt;
  if (n.op() == "Region") return n.body->reduced_rank == 0 && n.body->outputs.size() == 1 ? n.body : std::nullopt;
  if (n.body || !n.def->scalar || !n.def->pure) return std::nullopt;
  ir::Body body = n.def->scalar(n);
  if (body.inputs.size() != n.inputs.size() || body.outputs.size() != 1 || body.reduced_rank) return std::nullopt;
  return body;
}

ir::Body append(const ir::Body& first, std::vector<ir::Value*>& operands, int first_operand, const ir::Body& next,
                const std::vector<ir::Value*>& next_operands, const ir::Value* link) {
  std::vector<int> links;
  for (ir::Value* v : next_operands) {
    if (v == link) {
      links.push_back(first.outputs[0]);
      continue;
    }
    auto known = std::find(operands.begin(), operands.end(), v);
    const auto position = known - operands.begin();
    if (known != operands.end() && position < static_cast<std::ptrdiff_t>(first.inputs.size()) - first_operand) {
      links.push_back(static_cast<int>(position) + first_operand);
    } else {
      links.push_back(-1);
      operands.push_back(v);
    }
  }
  return ir::simplify(ir::compose(first, next, links));
}

}  // namespace tenfold::passes
