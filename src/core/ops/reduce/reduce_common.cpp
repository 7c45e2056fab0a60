// Shape inference and the reference walk of every reduction.
#include "ops/reduce/reduce_common.h"

#include "base/types/element.h"
#include "ops/walk.h"

namespace tenfold::ir {
namespace {

// The walks over the results and, for each of them, over the elements it is reduced from.
struct Split {
  Shape kept, kept_strides, reduced, reduced_strides;
};

Split split(const Shape& shape, const std::vector<bool>& is_reduced) {
  const Shape strides = ops::dense_strides(shape);
  Split result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (is_reduced[d] ? result.reduced : result.kept).push_back(shape[d]);
    (is_reduced[d] ? result.reduced_strides : result.kept_strides).push_back(strides[d]);
  }
  return result;
}

std::vector<bool> reduced_dims(const Ints& axes, const Attributes& attributes, int rank) {
  const bool all = axes.empty() && attributes.integer("noop_with_empty_axes") == 0;
  std::vector<bool> reduced(static_cast<std::size_t>(rank), all);
  for (const std::int64_t axis : axes) {
    check_shape(axis >= -rank && axis < rank, "axis ", axis, " is out of range for ", rank, " dimensions");
    reduced[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  return reduced;
}

// Of the axes only their number is known: any dim may be reduced.
void infer_any_axes(InferCall& call, bool keep) {
  const Dim count = call.rank(1) == 1 ? call.dims(1)[0] : Dim(1);
  call.supported(count.is_constant() || keep, "the number of axes is not known when building, and with it the result's rank");
  const bool fit = keep || (count.constant() >= 0 && count.constant() <= call.rank(0));
  call.check_shape(fit, count.text(), " axes are given for an operand of ", call.rank(0), " dimensions");
  Dim longest = 1;
  for (const Dim& d : call.dims(0)) longest = max(longest, d);
  const std::int64_t rank = keep ? call.rank(0) : count.constant() == 0 ? 0 : call.rank(0) - count.constant();
  Dims dims;
  for (std::int64_t d = 0; d < rank; ++d) {
    dims.push_back(call.new_symbol(cat("extent", d), 0, keep ? max(Dim(1), call.dims(0)[static_cast<std::size_t>(d)]) : longest));
  }
  call.out(0, call.dtype(0), std::move(dims));
}

void infer(InferCall& call) {
  const bool keep = call.attributes().integer("keepdims") != 0;
  Ints axes = call.attributes().ints("axes", {});
  if (call.has(1)) {
    const auto known = known_integers(*call.node().in(1));
    if (!known) return infer_any_axes(call, keep);
    axes = *known;
  }
  const std::vector<bool> reduced = reduced_dims(axes, call.attributes(), call.rank(0));
  Dims dims;
  for (std::size_t d = 0; d < reduced.size(); ++d) {
    if (!reduced[d]) dims.push_back(call.dims(0)[d]);
    else if (keep) dims.push_back(Dim(1));
  }
  call.out(0, call.dtype(0), std::move(dims));
}

// Which dims this call reduces; tells the result's shape if it became known only now.
std::vector<bool> resolve_dims(Call& call) {
  const Shape& shape = call.in[0].shape;
  Ints axes = call.attributes().ints("axes", {});
  if (call.has(1)) {
    axes.clear();
    for (std::int64_t i = 0; i < call.in[1].size(); ++i) axes.push_back(load_int(call.in[1].dtype, call.in[1].data, i));
  }
  const std::vector<bool> reduced = reduced_dims(axes, call.attributes(), static_cast<int>(shape.size()));
  Shape result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!reduced[d]) result.push_back(shape[d]);
    else if (call.attributes().integer("keepdims") != 0) result.push_back(1);
  }
  call.check_shape(element_count(result) <= call.out[0].size(), "the axes leave ", text(result), ", more than there is room for");
  call.shrink(0, std::move(result));
  return reduced;
}

}  // namespace

std::optional<std::vector<std::int64_t>> known_integers(const Value& value) {
  if (value.contents && is_constant(*value.contents)) return constants(*value.contents);
  if (!value.is_constant()) return {};
  const Tensor& tensor = value.constant->tensor;
  validate(is_integer(tensor.dtype()), "operand '", value.name, "' is ", text(value.type), ", integers expected");
  check_shape(tensor.rank() <= 1, "operand '", value.name, "' is ", text(value.type), ", a list expected");
  std::vector<std::int64_t> values;
  for (std::int64_t e = 0; e < tensor.size(); ++e) values.push_back(tensor.as_int(e));
  return values;
}

void reduce(Call& call, const Reduction& reduction) {
  const TensorRef &in = call.in[0], &out = call.out[0];
  const Split parts = split(in.shape, resolve_dims(call));
  const bool is_whole = !is_float(in.dtype) && reduction.whole;
  const std::int64_t results = element_count(parts.kept), count = element_count(parts.reduced);
  ops::Walk first(parts.kept, parts.kept_strides), walk(parts.reduced, parts.reduced_strides);
  std::vector<double> real;
  std::vector<std::int64_t> whole;
  for (std::int64_t r = 0; r < results; ++r, first.next()) {
    real.clear();
    whole.clear();
    for (std::int64_t e = 0; e < count; ++e, walk.next()) {
      const std::int64_t at = first.offset() + walk.offset();
      if (is_whole) whole.push_back(load_int(in.dtype, in.data, at));
      else real.push_back(load_double(in.dtype, in.data, at));
    }
    if (is_whole) store_int(out.dtype, out.data, r, reduction.whole(in.dtype, whole));
    else store_double(out.dtype, out.data, r, reduction.real(real));
  }
}

OpDef reduction(std::string name, ReductionKind kind, void (*reference)(Call&), std::vector<std::string> cases) {
  const bool narrows = kind == ReductionKind::sum || kind == ReductionKind::mean || kind == ReductionKind::max ||
                       kind == ReductionKind::min || kind == ReductionKind::absolutes;
  return {.name = name,
          .max_inputs = 2,
          .types = "T, int -> T; T: dense",
          .attributes = {{"keepdims", 1}, {"noop_with_empty_axes", 0}},
          .optional_attributes = "axes: ints",
          .infer = infer,
          .reference = reference,
          .traits = {.reduction = kind, .narrows = narrows},
          .cases = std::move(cases)};
}

}  // namespace tenfold::ir
