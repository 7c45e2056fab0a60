// Fused operators: each means a small graph of others, from which its reference kernel follows.
#pragma once

#include <string_view>
#include <vector>

#include "ir/op_def.h"

namespace tenfold::ir {

// What lies between the operators of an decomposition when the reference kernel runs it. as_stored: of the type that the operators give.
// wide: f64, in place of every operand of floats that may be f64, so that nothing but results is rounded: as in a kernel that keeps it in
// registers.
enum class Between { as_stored, wide };

// Completes the definition of an operator that has `decompose`.
OpDef fused(OpDef def, Between between);

// Writes an decomposition: nodes in front of the fused one, named after it.
class Decomposition {
 public:
  Decomposition(Graph& graph, Node& fused) : graph_(graph), fused_(fused) {}
  // A node with everything but results. GEMMs take the permission to round over.
  Node part(std::string_view op, std::vector<Value*> operands, Attributes attributes = {}, std::string_view suffix = "") const;
  Value* add(Node part) { return graph_.add(std::move(part), 1, &fused_)->out(); }
  Value* operator()(std::string_view op, std::vector<Value*> operands, Attributes attributes = {}) {
    return add(part(op, std::move(operands), std::move(attributes)));
  }
  Value* cast(Value* v, DType to);           // v itself, if it has that type
  Value* number(DType type, double value);
  Value* indices(const Ints& values);        // i64, of rank 1

 private:
  Graph& graph_;
  Node& fused_;
};

// A body behind `part`, of operands beside its own: their sum with its result.
void add_after(Node& part, const std::vector<Value*>& addends);

}  // namespace tenfold::ir
