// Squeeze: drops dims of extent 1, those of `axes` or all. Without axes a symbolic dim is kept: its rank has to be known.
#include <algorithm>

#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

// Which axes go only the data says, but not how many: extent d of the result is one of `count` + 1 neighbors.
void infer_any_axes(InferCall& call) {
  const auto count = static_cast<std::size_t>(ops::need_length(call, 1, "axes"));
  call.check_shape(count <= call.dims(0).size(), count, " axes of a tensor of rank ", call.rank(0));
  Dims kept;
  for (std::size_t d = 0; d + count < call.dims(0).size(); ++d)
    kept.push_back(call.new_symbol(cat("extent", d), 0, ops::largest(call, std::span(call.dims(0)).subspan(d, count + 1))));
  call.out(0, call.dtype(0), std::move(kept));
}

void infer(InferCall& call) {
  if (call.has(1) && !ops::knows_integers(call, 1)) return infer_any_axes(call);
  const Dims& dims = call.dims(0);
  std::vector<int> axes;
  if (call.has(1)) {
    axes = ops::need_axes(call, 1, call.rank(0));
  } else {
    for (int d = 0; d < call.rank(0); ++d)
      if (dims[static_cast<std::size_t>(d)] == Dim(1)) axes.push_back(d);
  }
  Dims kept;
  for (int d = 0; d < call.rank(0); ++d) {
    const Dim extent = dims[static_cast<std::size_t>(d)];
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
      kept.push_back(extent);
    } else {
      call.check_shape(!extent.is_constant() || extent == Dim(1), "dim ", d, " has extent ", extent.text(), ", only 1 can be squeezed");
    }
  }
  call.out(0, call.dtype(0), std::move(kept));
  if (const Dims* contents = call.contents(0)) call.out_contents(0, *contents);
}

void reference(Call& call) {
  if (call.has(1)) {
    Shape kept;
    std::vector<bool> squeezed(call.in[0].shape.size());
    for (std::int64_t axis : ops::read_ints(call.in[1]))
      squeezed[static_cast<std::size_t>(ops::wrap_axis(axis, static_cast<int>(squeezed.size())))] = true;
    for (std::size_t d = 0; d < squeezed.size(); ++d)
      if (!squeezed[d]) kept.push_back(call.in[0].shape[d]);
    ops::set_output_shape(call, 0, kept);
  }
  ops::copy_whole(call);
}

}  // namespace

OpDef op_squeeze() {
  return {.name = "Squeeze",
          .max_inputs = 2,
          .types = "T, int -> T; T: any",
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::reshape, .narrows = true},
          .cases = {"f32[1,3,1,5]", "f32[1,3,1,5] i64[1]{0}", "f32[1,3,1,5] i64[2]{-2,0}", "u4[1,3] i64[1]{0}", "f32[1] i64[1]{0}"}};
}

}  // namespace tenfold::ir
