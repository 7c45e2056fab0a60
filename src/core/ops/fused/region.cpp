// Region: pointwise operators, casts and row reductions fused into one node, whose body is its whole meaning.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  validate(node.body.has_value(), "a Region has no body");
  return *node.body;
}

}  // namespace

OpDef op_region() {
  return pointwise({.name = "Region",
                    .min_inputs = 0,
                    .max_inputs = -1,
                    .max_outputs = -1,
                    .types = "dense... -> *...",
                    .scalar = scalar,
                    .traits = {.region = true, .strided = true}});
}

}  // namespace tenfold::ir
