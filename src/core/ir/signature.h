// Which operands an operator needs.
#pragma once

namespace tenfold::ir {

struct Node;
struct OpDef;

// Whether operand `i` must be there: the first OpDef::min_inputs, and all of those that may be repeated, unless the declaration of the
// operator's types marks them with `?` ("int?, bool?, *?... -> *..."). Operands behind the first min_inputs that are not repeated may be
// left out.
bool is_required(const OpDef& def, int i);
// Throws a fault that names the first operand that is missing. Those of an epilogue are not looked at.
void check_present(const Node& node);

}  // namespace tenfold::ir
