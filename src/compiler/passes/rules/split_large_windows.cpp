// split_large_windows: a convolution with more taps than a CPU's convolutions support becomes a sum of convolutions with fewer.
//
// before: (x f32[1,2,40,40], w f32[2,1,31,31]!, b f32[2]!)
//   y = Conv(x, w, b) group=2 pads=[15,15,15,15]
// after: (x f32[1,2,40,40])
//   m = constant f32[2,1,15,31]
//   l = constant f32[2,1,16,31]
//   b = constant f32[2]
//   first = i64[1]{0}
//   end = i64[1]{-1}
//   axis = i64[1]{2}
//   s = Slice(x, first, end, axis)
//   c = Conv(s, m, b) group=2 kernel_shape=[15,31] pads=[15,15,0,15]
//   d = Conv(x, l) group=2 kernel_shape=[16,31] pads=[0,15,15,15]
//   y = Add(c, d)
//
// kept: (x f32[1,2,40,40], w f32[2,1,21,21]!)
//   y = Conv(x, w) group=2 pads=[10,10,10,10]
#include <algorithm>

#include "backends/device_traits.h"
#include "ops/fold.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using backends::kMaxTaps;
using ir::Ints;
using ir::Node;
using ir::Value;

Value* numbers(ir::Graph& graph, std::int64_t value) {
  Tensor t(DType::i64, {1});
  *t.mutable_data<std::int64_t>() = value;
  return graph.add_constant(std::move(t));
}

// The windows of a convolution along the axis where they reach furthest.
struct Windows {
  std::size_t rank, axis = 0;   // spatial dims; which of them
  std::int64_t taps = 1, length = 0, dilation = 1;
  Ints pads;

  explicit Windows(const Node& conv) : rank(conv.in(1)->dims().size() - 2), pads(conv.attributes.ints("pads", Ints(2 * rank, 0))) {
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t extent = conv.in(1)->dims()[d + 2].constant();
      taps *= extent;
      if (extent > length) axis = d, length = extent;
    }
    dilation = conv.attributes.ints("dilations", Ints(rank, 1))[axis];
  }
};

// Places [from, to) of each window. What they do not reach of the image is cut off where its padding does not do that.
Value* part_of(ir::Graph& graph, Node& conv, const Windows& w, std::int64_t from, std::int64_t to) {
  const auto dim = static_cast<std::int64_t>(w.axis) + 2;
  const std::int64_t before = from * w.dilation - w.pads[w.axis], behind = (w.length - to) * w.dilation - w.pads[w.rank + w.axis];
  const std::int64_t first = std::max<std::int64_t>(before, 0), cut = std::max<std::int64_t>(behind, 0);
  Value* x = conv.in(0);
  if (x->dims()[w.axis + 2].bounds(graph.box()).lower <= first + cut) return nullptr;
  if (first + cut > 0)
    x = graph.make("Slice", {x, numbers(graph, first), numbers(graph, cut > 0 ? -cut : ir::kUnbounded), numbers(graph, dim)}, {}, &conv);
  Ints pads = w.pads, kernel;
  pads[w.axis] = std::max<std::int64_t>(-before, 0), pads[w.rank + w.axis] = std::max<std::int64_t>(-behind, 0);
  for (std::size_t d = 0; d < w.rank; ++d) kernel.push_back(d == w.axis ? to - from : conv.in(1)->dims()[d + 2].constant());
  ir::Attributes attributes = conv.attributes;
  attributes.set("pads", pads), attributes.set("kernel_shape", kernel);
  Value* weights = ops::fold(graph, "Slice", {conv.in(1), numbers(graph, from), numbers(graph, to), numbers(graph, dim)}, {},
                             conv.in(1)->name + "_part");
  std::vector<Value*> operands{x, weights};
  if (from == 0 && conv.in(2)) operands.push_back(conv.in(2));
  Value* part = graph.add("Conv", std::move(operands), std::move(attributes), 1, conv.name, &conv)->out();
  part->producer->numerics = conv.numerics;
  return part;
}

bool try_split(ir::Graph& graph, Node& n) {
  if (n.op() != "Conv" || n.body || !n.in(1)->is_constant()) return false;
  if (n.in(0)->dtype() != DType::f32 || n.out()->dtype() != DType::f32) return false;
  const Windows w(n);
  if (w.taps <= kMaxTaps || n.attributes.string("auto_pad", "NOTSET") != "NOTSET") return false;
  const std::int64_t max = std::max<std::int64_t>(kMaxTaps / (w.taps / w.length), 1), parts = (w.length + max - 1) / max;
  Value* sum = nullptr;
  for (std::int64_t i = 0; i < parts; ++i) {
    Value* part = part_of(graph, n, w, i * w.length / parts, (i + 1) * w.length / parts);
    if (!part || part->dims() != n.out()->dims()) return false;
    sum = sum ? graph.make("Add", {sum, part}, {}, &n) : part;
  }
  graph.replace_uses(n.out(), sum);
  graph.erase(n);
  return true;
}

}  // namespace

// A part may be too large in turn, where windows have three dims.
Pass pass_split_large_windows() {
  return {.name = "split_large_windows", .run = [](ir::Graph& graph) {
            bool changed = false;
            while (try_each(graph, try_split)) changed = true;
            return changed;
          }};
}

}  // namespace tenfold::passes
