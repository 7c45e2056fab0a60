#include "quant/never_negative.h"

#include <set>
#include <string_view>

#include "ir/op_def.h"

namespace tenfold::quant {

bool never_negative(const ir::Value* value, const NumberOf& number) {
  const ir::Node* n = value->producer;
  if (!n || n->body) return false;
  static const std::set<std::string_view> always{"Exp", "HardSigmoid", "Relu", "Sigmoid", "Softmax"};
  static const std::set<std::string_view> of_operand{"AveragePool", "GlobalAveragePool", "MaxPool"};
  if (always.count(n->op())) return true;
  const auto at_least_zero = [&](const ir::Value* v) {
    const std::optional<double> given = v ? number(v) : std::nullopt;
    return given && *given >= 0;
  };
  if (n->op() == "Clip") return at_least_zero(n->in(1));
  if (n->op() == "Where") {
    for (int i : {1, 2})
      if (!at_least_zero(n->in(i)) && !never_negative(n->in(i), number)) return false;
    return true;
  }
  const ir::Movement how = n->def->traits.movement;
  const bool moves = how != ir::Movement::none && how != ir::Movement::concat;
  return (moves || of_operand.count(n->op())) && never_negative(n->in(0), number);
}

}  // namespace tenfold::quant
