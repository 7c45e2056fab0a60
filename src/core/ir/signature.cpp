// Marks of optional operands are read from the text of the declaration.
#include "ir/signature.h"

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "ir/fault.h"
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

bool is_marked_optional(std::string_view declaration, int operand) {
  std::string_view operands = declaration.substr(0, declaration.find("->"));
  for (int i = 0;; ++i) {
    const std::size_t comma = operands.find(',');
    std::string_view word = operands.substr(0, comma);
    word = word.substr(0, word.find_last_not_of(' ') + 1);
    const bool repeated = word.ends_with("...");
    if (repeated) word.remove_suffix(3);
    if (i == operand || comma == std::string_view::npos) return (i == operand || repeated) && word.ends_with('?');
    operands.remove_prefix(comma + 1);
  }
}

}  // namespace

bool is_required(const OpDef& def, int i) {
  return (i < def.min_inputs || def.max_inputs < 0) && !is_marked_optional(def.types.text(), i);
}

void check_present(const Node& node) {
  const int all = static_cast<int>(node.inputs.size()), own = node.anchor_inputs >= 0 ? std::min(node.anchor_inputs, all) : all;
  for (int i = 0; i < own; ++i) validate(node.in(i) || !is_required(*node.def, i), "operand ", i, " of ", node.op(), " is missing");
}

}  // namespace tenfold::ir
