// Shape inference, import and the reference walk of every reduction.
#include "ops/reduce/reduce_common.h"

#include "base/element.h"
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

// f(result number, offset of its first element, walk over its elements, their number).
template <class F>
void for_each_result(const Call& call, F&& f) {
  const Shape& shape = call.in[0].shape;
  Split parts = split(shape, reduced_dims(call.attributes(), static_cast<int>(shape.size())));
  const std::int64_t results = element_count(parts.kept), count = element_count(parts.reduced);
  ops::Walk outer(parts.kept, parts.kept_strides), inner(parts.reduced, parts.reduced_strides);
  for (std::int64_t r = 0; r < results; ++r, outer.next()) f(r, outer.offset(), inner, count);
}

void infer(InferCall& call) {
  const std::vector<bool> reduced = reduced_dims(call.attributes(), call.rank(0));
  const bool keep = call.attributes().integer("keepdims") != 0;
  require(call.dtype(0) != DType::string, ErrorKind::invalid_model, "strings cannot be reduced");
  Dims dims;
  for (std::size_t d = 0; d < reduced.size(); ++d) {
    if (!reduced[d]) dims.push_back(call.dims(0)[d]);
    else if (keep) dims.push_back(Dim(1));
  }
  call.out(0, call.dtype(0), std::move(dims));
}

std::vector<Value*> from_axes_input(OnnxImport& node) {
  Attributes attributes = node.attributes;
  if (node.in(1)) attributes.set("axes", known_integers(node, 1, "the axes of a reduction"));
  return node.add(node.op(), {node.need(0)}, std::move(attributes));
}

}  // namespace

std::vector<std::int64_t> known_integers(OnnxImport& node, int i, const char* what) {
  const Value* value = node.need(i);
  if (value->contents && is_constant(*value->contents)) return constants(*value->contents);
  const Tensor& tensor = node.constant(i, what);
  require(is_integer(tensor.dtype()) && tensor.rank() <= 1, ErrorKind::invalid_model, what, " are ", name(tensor.dtype()), " of rank ",
          tensor.rank(), ", a list of integers expected");
  std::vector<std::int64_t> values;
  for (std::int64_t e = 0; e < tensor.size(); ++e) values.push_back(tensor.as_int(e));
  return values;
}

std::vector<bool> reduced_dims(const Attributes& attributes, int rank) {
  const Ints axes = attributes.ints("axes", {});
  const bool all = axes.empty() && attributes.integer("noop_with_empty_axes", 0) == 0;
  std::vector<bool> reduced(static_cast<std::size_t>(rank), all);
  for (const std::int64_t axis : axes) {
    require(axis >= -rank && axis < rank, ErrorKind::invalid_model, "axis ", axis, " is out of range for ", rank, " dimensions");
    reduced[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  return reduced;
}

void reduce(Call& call, const Reduction& reduction) {
  const TensorRef &in = call.in[0], &out = call.out[0];
  const bool is_whole = !is_float(in.dtype) && reduction.whole;
  std::vector<double> real;
  std::vector<std::int64_t> whole;
  for_each_result(call, [&](std::int64_t r, std::int64_t first, ops::Walk& walk, std::int64_t count) {
    real.clear();
    whole.clear();
    for (std::int64_t e = 0; e < count; ++e, walk.next()) {
      if (is_whole) whole.push_back(load_int(in.dtype, in.data, first + walk.offset()));
      else real.push_back(load_double(in.dtype, in.data, first + walk.offset()));
    }
    if (is_whole) store_int(out.dtype, out.data, r, reduction.whole(in.dtype, whole));
    else store_double(out.dtype, out.data, r, reduction.real(real));
  });
}

OpDef reduction(std::string name, void (*reference)(Call&), std::vector<std::string> cases, int axes_input) {
  return {.name = name,
          .attributes = {{"keepdims", 1}, {"noop_with_empty_axes", 0}},
          .optional_attributes = {"axes"},
          .infer = infer,
          .reference = reference,
          .from_onnx = {{name, axes_input, from_axes_input}, {name, 1}},
          .cases = std::move(cases)};
}

}  // namespace tenfold::ir
