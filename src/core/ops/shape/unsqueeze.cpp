// Unsqueeze: inserts dims of extent 1 so that they stand at `axes` of the result.
#include <algorithm>

#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

// Where the new dims stand only the data says: extent d of the result is 1 or one of `added` + 1 neighbors.
void infer_any_axes(InferCall& call, int rank) {
  Dims dims;
  for (int d = 0; d < rank; ++d) {
    const int first = std::max(0, d - (rank - call.rank(0))), last = std::min(d, call.rank(0) - 1);
    const auto near =
        std::span(call.dims(0)).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(std::max(0, last - first + 1)));
    dims.push_back(call.new_symbol(cat("extent", d), 0, ops::largest(call, near)));
  }
  call.out(0, call.dtype(0), std::move(dims));
}

void infer(InferCall& call) {
  const int rank = call.rank(0) + ops::need_length(call, 1, "axes");
  if (!ops::knows_integers(call, 1)) return infer_any_axes(call, rank);
  const std::vector<int> axes = ops::need_axes(call, 1, rank);
  Dims dims;
  auto next = call.dims(0).begin();
  for (int d = 0; d < rank; ++d) dims.push_back(std::find(axes.begin(), axes.end(), d) == axes.end() ? *next++ : Dim(1));
  call.out(0, call.dtype(0), std::move(dims));
  if (const Dims* contents = call.contents(0)) call.out_contents(0, *contents);
}

void reference(Call& call) {
  const int rank = static_cast<int>(call.out[0].shape.size());
  std::vector<bool> added(static_cast<std::size_t>(rank));
  for (std::int64_t axis : ops::read_ints(call.in[1])) added[static_cast<std::size_t>(ops::wrap_axis(axis, rank))] = true;
  call.check_shape(std::count(added.begin(), added.end(), false) == static_cast<std::ptrdiff_t>(call.in[0].shape.size()),
            "an axis is given twice");
  Shape shape;
  auto next = call.in[0].shape.begin();
  for (bool is_new : added) shape.push_back(is_new ? 1 : *next++);
  ops::set_output_shape(call, 0, shape);
  ops::copy_whole(call);
}

}  // namespace

OpDef op_unsqueeze() {
  return {.name = "Unsqueeze",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, int -> T; T: any",
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::reshape, .narrows = true},
          .cases = {"f32[3,4] i64[1]{0}", "f32[3,4] i64[2]{-1,1}", "f32[] i64[1]{0}", "i2[5] i64[2]{0,2}"}};
}

}  // namespace tenfold::ir
