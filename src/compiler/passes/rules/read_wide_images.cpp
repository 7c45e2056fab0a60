// read_wide_images: a first convolution reads its image as f32 NCHW, instead of a 16-bit channels-last copy. For GPUs, where that
// copy would be a separate step; `precision` says to what the convolution's operands are rounded.
//
// before: (x f32[2,3,9,8], w f16[8,3,3,3]!, b f16[8]!)
//   h = Cast(x) to="f16"
//   y = Conv(h, w, b) pads=[1,1,1,1]
// after: (x f32[2,3,9,8], w f16[8,3,3,3]!, b f16[8]!)
//   y = Conv(x, w, b) pads=[1,1,1,1] numerics={round_to=f16}
//
// kept: (x f32[2,8,9,8], w f16[8,8,3,3]!)
//   h = Cast(x) to="f16"
//   y = Conv(h, w)
#include "passes/first_convolutions.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

bool rule(ir::Graph& graph, ir::Node& n) {
  if (n.op() != "Conv" || n.body) return false;
  const ir::Node* cast = made_by(n.in(0), "Cast");
  if (!cast || !only_user(graph, cast->out())) return false;
  const DType narrow = cast->out()->dtype();
  ir::Value* image = cast->in(0);
  if (image->producer || image->is_constant() || image->dtype() != DType::f32) return false;
  if (narrow != DType::f16 && narrow != DType::bf16) return false;
  if (n.in(1)->dtype() != narrow || n.numerics.round_to != ir::Rounding::none || !has_few_channels(n)) return false;
  n.numerics.round_to = ir::rounding_to(narrow);
  graph.set_input(n, 0, image);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, rule); }

}  // namespace

Pass pass_read_wide_images() { return {.name = "read_wide_images", .run = run}; }

}  // namespace tenfold::passes
