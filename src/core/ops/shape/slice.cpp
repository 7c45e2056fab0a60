// Slice: every `step`-th index from start to end along some axes; negative indices count from the end, all are clamped.
#include <algorithm>
#include <limits>

#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

struct Range { Dim first, count; };

// Models write the end of any axis as the largest (or, backwards, the smallest) integer of 32 or 64 bits.
Dim tame(Dim index) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int32_t>::max();
  if (!index.is_constant() || (index.constant() < kEnd && index.constant() > -kEnd)) return index;
  return index.constant() > 0 ? Dim(2 * kUnbounded) : Dim(-2 * kUnbounded);
}

// Whatever passes the extent takes one element, as the least such step does.
std::int64_t tame_step(std::int64_t step, std::int64_t extent) { return std::clamp(step, -extent - 1, extent + 1); }

// The one place that knows the clamping rules: for symbolic extents as well as for numbers.
Range range_of(const ops::DimRules& rules, Dim extent, Dim start, Dim end, std::int64_t step) {
  const bool forward = step > 0;
  const Dim low = forward ? 0 : -1, high = forward ? extent : extent - 1;
  const Dim first = rules.clamp_index(tame(start), extent, 0, high), last = rules.clamp_index(tame(end), extent, low, high);
  const Dim count = forward ? ceil_div(last - first, Dim(step)) : ceil_div(first - last, Dim(-step));
  return {first, rules.not_negative(count)};
}

ops::IndexMap map_of(const Shape& shape, const Ints& axes, const Ints& starts, const Ints& ends, const Ints& steps) {
  const Shape strides = ops::row_major_strides(shape);
  ops::IndexMap map;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto k = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) - axes.begin());
    if (k == axes.size()) {
      map.add_dim(shape[d], strides[d]);
    } else {
      const std::int64_t step = tame_step(steps[k], shape[d]);
      const Range part = range_of({}, shape[d], starts[k], ends[k], step);
      map.add_dim(part.count.constant(), step * strides[d], part.first.constant() * strides[d]);
    }
  }
  return map;
}

Ints axes_of(const InferCall& call, std::size_t count) {
  Ints axes(count);
  for (std::size_t i = 0; i < count; ++i) axes[i] = static_cast<std::int64_t>(i);
  if (call.has(3)) {
    const std::vector<int> given = ops::need_axes(call, 3, call.rank(0));
    axes.assign(given.begin(), given.end());
  }
  call.check_shape(axes.size() == count, "axes has ", axes.size(), " entries, starts has ", count);
  call.check_shape(count <= call.dims(0).size(), "starts has ", count, " entries, the input has rank ", call.rank(0));
  return axes;
}

void infer_contents(InferCall& call, const Ints& axes, const Ints& steps) {
  const auto shape = ops::constant_shape(call.dims(0));
  const Dims *contents = call.contents(0), *starts = call.contents(1), *ends = call.contents(2);
  if (contents && shape && starts && ends && is_constant(*starts) && is_constant(*ends))
    call.out_contents(0, pick(map_of(*shape, axes, constants(*starts), constants(*ends), steps), *contents));
}

// Which axes are cut only the data says: any extent may become smaller.
void infer_any_axes(InferCall& call) {
  Dims dims = call.dims(0);
  for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = call.new_symbol(cat("extent", d), 0, dims[d]);
  call.out(0, call.dtype(0), std::move(dims));
}

void infer(InferCall& call) {
  const auto count = static_cast<std::size_t>(ops::need_length(call, 1, "starts"));
  call.check_shape(ops::need_length(call, 2, "ends") == static_cast<int>(count), "starts and ends differ in length");
  if (call.has(3) && !ops::knows_integers(call, 3)) return infer_any_axes(call);
  const Ints axes = axes_of(call, count);
  const Dims *starts = call.contents(1), *ends = call.contents(2), *given_steps = call.has(4) ? call.contents(4) : nullptr;
  const bool known = starts && ends && (!call.has(4) || (given_steps && is_constant(*given_steps)));
  const Ints steps = given_steps && known ? constants(*given_steps) : Ints(count, 1);
  call.check_shape(steps.size() == count, "steps has ", steps.size(), " entries, starts has ", count);
  const ops::DimRules rules(call);
  Dims dims = call.dims(0);
  for (std::size_t k = 0; k < count; ++k) {
    Dim& extent = dims[static_cast<std::size_t>(axes[k])];
    call.check_shape(steps[k] != 0, "step ", k, " is 0");
    extent = known ? range_of(rules, extent, (*starts)[k], (*ends)[k], tame_step(steps[k], kUnbounded)).count
                   : call.new_symbol(cat("extent", axes[k]), 0, extent);
  }
  call.out(0, call.dtype(0), std::move(dims));
  if (known) infer_contents(call, axes, steps);
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  const Ints starts = ops::read_ints(call.in[1]), ends = ops::read_ints(call.in[2]);
  Ints axes = call.has(3) ? ops::read_ints(call.in[3]) : Ints(starts.size()), steps(starts.size(), 1);
  for (std::size_t k = 0; k < axes.size(); ++k)
    axes[k] = call.has(3) ? ops::wrap_axis(axes[k], static_cast<int>(from.shape.size())) : static_cast<std::int64_t>(k);
  if (call.has(4)) steps = ops::read_ints(call.in[4]);
  call.check_shape(ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size() &&
                std::find(steps.begin(), steps.end(), 0) == steps.end(),
            "starts, ends, axes and steps disagree, or a step is 0");
  const ops::IndexMap map = map_of(from.shape, axes, starts, ends, steps);
  ops::set_output_shape(call, 0, map.shape());
  copy(map, from, call.out[0]);
}

}  // namespace

OpDef op_slice() {
  return {.name = "Slice",
          .min_inputs = 3,
          .max_inputs = 5,
          .types = "T, int, int, int, int -> T; T: any",
          .attributes = {},
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::slice, .steps = 4, .axes = 3, .narrows = true},
          .cases = {"f32[4,6] i64[2]{1,2} i64[2]{3,2147483647}", "f32[4,6] i64[1]{-2} i64[1]{100} i64[1]{1}",
                    "f32[4,6,3] i64[1]{-1} i64[1]{-9223372036854775807} i64[1]{0} i64[1]{-1}",
                    "i4[5,5] i32[2]{1,0} i32[2]{5,4} i32[2]{1,0} i32[2]{2,3}", "f16[2,8,4] i64[1]{3} i64[1]{-1} i64[1]{1}",
                    "bf16[2,8,37] i64[2]{1,2} i64[2]{7,31} i64[2]{1,2}", "f32[4] i64[1]{3} i64[1]{1}"}};
}

}  // namespace tenfold::ir
