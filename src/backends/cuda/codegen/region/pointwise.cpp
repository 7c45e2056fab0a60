// The bodies of pointwise problems.
#include "backends/cuda/codegen/region/pointwise.h"

#include "backends/problems/pointwise_body.h"
#include "ir/op_def.h"

namespace tenfold::backends::cuda {

Verdict as_elements(const Problem& p, ElementsProblem& elements) {
  if (!p.op->scalar) return Verdict::no("the operator is not pointwise");
  for (const OperandDesc& o : p.in) {
    if (o.missing) continue;
    elements.in.push_back(&o);
    elements.dims = ir::broadcast(elements.dims, o.dims);
  }
  for (const OperandDesc& o : p.out) {
    if (o.missing) return Verdict::no("an output is left out");
    elements.out.push_back(&o);
  }
  elements.body = whole_body(p);
  elements.box = p.box;
  return can_generate(elements);
}

}  // namespace tenfold::backends::cuda
