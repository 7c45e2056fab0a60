// The node that a step computes, as inference sees it: with the extents of the dims table, or with those of one run.
#pragma once

#include "ir/op_def.h"
#include "plan/plan.h"

namespace tenfold::plan {

// What stands for an operand in a graph: an input of these dims, or a constant whose values inference may ask for; null: left out.
ir::Value* add_operand(const Plan& plan, const Program& top, ir::Graph& graph, const Operand& o, const ir::Dims& dims);
// Adds the step to an empty graph, its operands with these dims. Throws what inference throws.
const ir::Node* add_step(const Plan& plan, const Program& top, const Step& step, const std::vector<ir::Dims>& operands,
                         ir::Graph& graph);

// Could operands whose extents are symbols meet others that do not suit them: [rows, k] times [6, 4] where k is 3? What is not
// provably equal counts as different, so such a step asks again before it runs. Found by trying several points of the box.
class Disagreements {
 public:
  Disagreements(const Plan& plan, const Program& top, const ir::Registry& registry);
  bool possible(const Step& step) const;

 private:
  bool disagree(const Step& step, std::span<const std::int64_t> dims) const;

  const Plan& plan_;
  const Program& top_;
  const ir::Registry& registry_;
  std::vector<std::vector<std::int64_t>> points_;   // values of the dims table
};
// Throws invalid_model where the extents of one run do not suit each other.
void check_extents(const Plan& plan, const Program& top, const Step& step, const std::vector<Shape>& operands,
                   const ir::Registry& registry);

}  // namespace tenfold::plan
