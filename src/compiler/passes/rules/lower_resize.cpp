// lower_resize: a Resize by constant scales names the axes that it resizes: the spatial ones, and batch and channels where their scales
// are not 1. Such a scale may leave the extent as it is (3 by 1.2 is 3) and mixes the elements nevertheless; tactics cannot see scales,
// but axes they can.
//
// before: (x f32[2,3,4,5])
//   s = f32[4]{1,1,2,1.1}
//   y = Resize(x, _, s) mode="linear"
// after: (x f32[2,3,4,5])
//   s = f32[2]{2,1.1}
//   y = Resize(x, _, s) axes=[2,3] mode="linear"
//
// before: (x f32[2,3,4,5])
//   s = f32[4]{1,1.2,1,2}
//   y = Resize(x, _, s) mode="linear"
// after: (x f32[2,3,4,5])
//   s = f32[3]{1.2,1,2}
//   y = Resize(x, _, s) axes=[1,2,3] mode="linear"
//
// before: (x f32[2,3,4])
//   s = f32[1]{3}
//   y = Resize(x, _, s) axes=[-1]
// after: (x f32[2,3,4])
//   s = f32[1]{3}
//   y = Resize(x, _, s) axes=[2]
//
// kept: (x f32[2,3,4,5])
//   s = i64[4]{2,3,8,10}
//   y = Resize(x, _, _, s)
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

constexpr std::int64_t kSpatial = 2;   // the first axis behind batch and channels

bool try_lower(ir::Graph& graph, ir::Node& n) {
  if (n.op() != "Resize" || n.body || n.in(1) || !n.in(2) || n.in(3) || n.in(2)->dtype() != DType::f32) return false;
  const Tensor* scales = look(n.in(2));
  const std::int64_t rank = n.in(0)->rank();
  if (!scales || rank <= kSpatial) return false;
  const ir::Ints given = n.attributes.ints("axes", {});
  std::vector<float> scale(static_cast<std::size_t>(rank), 1.0f);
  for (std::int64_t i = 0; i < scales->size(); ++i) {
    const std::int64_t axis = given.empty() ? i : given[static_cast<std::size_t>(i)];
    scale[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = scales->data<float>()[i];
  }
  ir::Ints axes;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (axis >= kSpatial || scale[static_cast<std::size_t>(axis)] != 1.0f) axes.push_back(axis);
  if (axes == given) return false;
  Tensor named(DType::f32, {static_cast<std::int64_t>(axes.size())});
  for (std::size_t i = 0; i < axes.size(); ++i) named.mutable_data<float>()[i] = scale[static_cast<std::size_t>(axes[i])];
  ir::Attributes attributes = n.attributes;
  attributes.set("axes", axes);
  ir::Node* lowered =
      graph.add("Resize", {n.in(0), nullptr, graph.add_constant(std::move(named))}, std::move(attributes), 1, n.name, &n);
  graph.replace_uses(n.out(), lowered->out());
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_lower); }

}  // namespace

Pass pass_lower_resize() { return {.name = "lower_resize", .run = run}; }

}  // namespace tenfold::passes
