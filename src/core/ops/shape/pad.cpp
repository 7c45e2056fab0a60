// Pad: elements put before and after each axis (constant, reflect, edge or wrap), or taken away where the count is negative.
#include <algorithm>

#include "base/checked.h"
#include "ir/fault.h"
#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

// The source of index i of `extent` elements, where i may lie outside; kNone if nothing but the fill value is there.
std::int64_t source_of(const std::string& mode, std::int64_t i, std::int64_t extent) {
  if (i >= 0 && i < extent) return i;
  if (mode == "constant" || extent == 0) return ops::IndexMap::kNone;
  if (mode == "edge") return std::clamp<std::int64_t>(i, 0, extent - 1);
  const std::int64_t period = mode == "wrap" ? extent : std::max<std::int64_t>(1, 2 * (extent - 1));
  const std::int64_t folded = floor_mod(i, period);
  return folded < extent ? folded : period - folded;
}

// Negative counts crop first; what is left is then padded.
template <class C>  // an InferCall or a Call
ops::IndexMap map_of(const C& call, const Shape& shape, const Ints& before, const Ints& after) {
  const std::string& mode = call.attributes().string("mode");
  const Shape strides = ops::row_major_strides(shape);
  ops::IndexMap map;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t cropped = -std::clamp<std::int64_t>(before[d], -shape[d], 0);
    const std::int64_t extent = std::max<std::int64_t>(0, shape[d] - cropped + std::min<std::int64_t>(0, after[d]));
    const std::int64_t result = checked_add(checked_add(shape[d], before[d]), after[d]);
    call.check_shape(result >= 0, "pads take away more than the ", shape[d], " elements of dim ", d);
    call.check_shape(mode == "constant" || extent > 0 || result == 0, "mode ", mode, " needs elements to repeat in dim ", d);
    map.add_dim(result, 0);
    for (std::int64_t i = 0; i < result; ++i) {
      const std::int64_t source = source_of(mode, i - std::max<std::int64_t>(0, before[d]), extent);
      map.offsets[d][static_cast<std::size_t>(i)] = source == ops::IndexMap::kNone ? source : (source + cropped) * strides[d];
    }
  }
  return map;
}

// Counts for every dim from those of the axes given; T is Dim or an integer.
template <class T>
std::vector<T> spread(const std::vector<T>& pads, const std::vector<int>& axes, std::size_t rank, bool after) {
  std::vector<T> all(rank, T(0));
  for (std::size_t k = 0; k < axes.size(); ++k) all[static_cast<std::size_t>(axes[k])] = pads[k + (after ? axes.size() : 0)];
  return all;
}

std::vector<int> all_axes(int rank) {
  std::vector<int> axes;
  for (int d = 0; d < rank; ++d) axes.push_back(d);
  return axes;
}

void infer_contents(InferCall& call, const Dims& result, const Dims& before, const Dims& after) {
  const auto shape = ops::constant_shape(call.dims(0));
  if (!shape || !call.contents(0) || !ops::constant_shape(result) || !is_constant(before) || !is_constant(after)) return;
  if (call.has(2) && !call.contents(2)) return;
  const ops::IndexMap map = map_of(call, *shape, constants(before), constants(after));
  call.out_contents(0, pick(map, *call.contents(0), call.has(2) ? call.contents(2)->at(0) : Dim(0)));
}

void infer(InferCall& call) {
  const std::string& mode = call.attributes().string("mode");
  call.validate(mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap", "unknown mode '", mode, "'");
  if (call.has(2)) {
    const Dim values = product(call.dims(2));
    call.check_shape(!values.is_constant() || values == Dim(1), "constant_value has the shape [", text(call.dims(2)),
                     "], one number expected");
  }
  const bool any_axes = call.has(3) && !ops::knows_integers(call, 3);
  const std::vector<int> axes = call.has(3) && !any_axes ? ops::need_axes(call, 3, call.rank(0)) : all_axes(call.rank(0));
  Dims dims = call.dims(0);
  const Dims* pads = call.contents(1);
  const auto count = static_cast<std::size_t>(ops::need_length(call, 1, "pads"));
  call.check_shape(any_axes || count == 2 * axes.size(), "pads has ", count, " entries, ", 2 * axes.size(), " expected");
  if (!pads || any_axes) {
    for (int axis : axes) dims[static_cast<std::size_t>(axis)] = call.new_symbol(cat("extent", axis), 0, kUnbounded);
    return call.out(0, call.dtype(0), std::move(dims));
  }
  const Dims before = spread(*pads, axes, dims.size(), false), after = spread(*pads, axes, dims.size(), true);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    dims[d] = dims[d] + before[d] + after[d];
    call.check_shape(!dims[d].is_constant() || dims[d].constant() >= 0, "pads leave ", dims[d].text(), " elements in dim ", d);
  }
  call.out(0, call.dtype(0), dims);
  infer_contents(call, dims, before, after);
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  const int rank = static_cast<int>(from.shape.size());
  std::vector<int> axes = all_axes(rank);
  if (call.has(3)) {
    axes.clear();
    for (std::int64_t axis : ops::read_ints(call.in[3])) axes.push_back(ops::wrap_axis(axis, rank));
  }
  const Ints pads = ops::read_ints(call.in[1]);
  call.check_shape(pads.size() == 2 * axes.size(), pads.size(), " pads for ", axes.size(), " axes");
  const Ints before = spread(pads, axes, from.shape.size(), false), after = spread(pads, axes, from.shape.size(), true);
  Shape shape = from.shape;
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = checked_add(checked_add(shape[d], before[d]), after[d]);
  ops::set_output_shape(call, 0, shape);
  const TensorRef& to = call.out[0];
  if (to.size() == 0) return;
  if (call.has(2)) {
    call.check_shape(call.in[2].size() == 1, "constant_value is no single number");
    ops::fill_elements(to, call.in[2].data);
  } else {
    ops::fill_elements(to, Tensor(to.dtype, {1}).raw());
  }
  copy(map_of(call, from.shape, before, after), from, to);
}

}  // namespace

OpDef op_pad() {
  return {.name = "Pad",
          .min_inputs = 2,
          .max_inputs = 4,
          .types = "T, int, T, int -> T; T: dense",
          .attributes = {{"mode", "constant"}},
          .infer = infer,
          .reference = reference,
          .traits = {.narrows = true},
          .cases = {"f32[2,3] i64[4]{1,0,0,2}", "f32[2,3] i64[4]{0,1,2,0} f32[]{-1.5}", "f32[1,4] i64[4]{0,3,0,2} mode=\"reflect\"",
                    "f16[3,4] i64[4]{1,1,1,1} mode=\"edge\"", "f32[2,3] i64[2]{4,5} _ i64[1]{-1} mode=\"wrap\"",
                    "f32[4,5] i64[4]{-1,2,1,-2} f32[]{9}", "i4[3,3] i64[4]{1,0,1,0}", "bf16[2,17] i64[4]{1,0,0,2}"}};
}

}  // namespace tenfold::ir
