// Putting together what a pointwise problem computes.
#include "backends/problems/pointwise_body.h"

#include <deque>

#include "ir/op_def.h"

namespace tenfold::backends {

ir::Body whole_body(const Problem& p) {
  const bool is_region = p.op->traits.region;
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

}  // namespace tenfold::backends
