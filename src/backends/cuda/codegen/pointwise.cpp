// The bodies of pointwise problems.
#include "backends/cuda/codegen/pointwise.h"

#include <deque>

#include "ir/op_def.h"

namespace tenfold::backends::cuda {

ir::Body whole_body(const Problem& p) {
  const bool is_region = p.op->name == "Region";
  ir::Node node;
  node.def = p.op;
  if (p.attributes) node.attributes = *p.attributes;
  if (is_region) node.body = *p.body;
  std::deque<ir::Value> values;
  const std::size_t own = is_region ? p.in.size() : std::min(p.in.size(), static_cast<std::size_t>(p.anchor_inputs));
  for (std::size_t i = 0; i < own; ++i) {
    node.inputs.push_back(p.in[i].missing ? nullptr : &values.emplace_back());
    if (node.inputs.back()) node.inputs.back()->type.tensor = {p.in[i].dtype, p.in[i].dims};
  }
  for (std::size_t i = 0; i < p.out.size(); ++i) node.outputs.push_back(&values.emplace_back());
  ir::Body body = p.op->scalar(node);
  if (is_region || !p.body) return body;
  std::vector<int> links(p.body->inputs.size(), -1);
  links[0] = body.outputs[0];
  return ir::compose(body, *p.body, links);
}

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
