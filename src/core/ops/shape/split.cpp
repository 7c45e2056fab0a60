// Split: pieces of a tensor along an axis, of the sizes in operand 1, or equal ones with a smaller last.
#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

void set_size(InferCall& call, int output, int axis, Dim size) {
  Dims dims = call.dims(0);
  dims[static_cast<std::size_t>(axis)] = size;
  call.out(output, call.dtype(0), std::move(dims));
}

// The sizes in operand 1: its contents, or the elements of a constant list of any length. Empty: only the run knows them.
std::optional<Dims> known_sizes(const InferCall& call) {
  if (const Dims* values = call.contents(1)) return *values;
  const Tensor* list = call.constant(1);
  if (!list) return std::nullopt;
  Dims sizes;
  for (std::int64_t i = 0; i < list->size(); ++i) sizes.emplace_back(list->as_int(i));
  return sizes;
}

Dims equal_sizes(const InferCall& call, Dim extent, const ops::DimRules& rules) {
  const int pieces = call.outputs();
  const std::int64_t num_outputs = call.attributes().integer("num_outputs", pieces);
  call.validate(num_outputs == pieces, "num_outputs is ", num_outputs, ", the node has ", pieces, " outputs");
  const Dim piece = ceil_div(extent, Dim(pieces));
  Dims sizes;
  for (int i = 0; i < pieces; ++i)
    sizes.push_back(extent.divisible_by(pieces) ? piece : rules.smaller(piece, rules.not_negative(extent - Dim(i) * piece)));
  return sizes;
}

ops::IndexMap piece_map(const Shape& shape, int axis, std::int64_t first, std::int64_t size) {
  const Shape strides = ops::row_major_strides(shape);
  ops::IndexMap map;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool cut = static_cast<int>(d) == axis;
    map.add_dim(cut ? size : shape[d], strides[d], cut ? first * strides[d] : 0);
  }
  return map;
}

void infer_contents(InferCall& call, int axis, const Dims& sizes) {
  const auto shape = ops::constant_shape(call.dims(0));
  if (!call.contents(0) || !shape || !is_constant(sizes)) return;
  std::int64_t first = 0;
  for (int i = 0; i < call.outputs(); ++i) {
    const std::int64_t size = sizes[static_cast<std::size_t>(i)].constant();
    call.out_contents(i, pick(piece_map(*shape, axis, first, size), *call.contents(0)));
    first += size;
  }
}

void infer(InferCall& call) {
  const int axis = call.axis(call.attributes().integer("axis"), call.rank(0));
  const Dim extent = call.dims(0)[static_cast<std::size_t>(axis)];
  Dims sizes;
  if (!call.has(1)) {
    sizes = equal_sizes(call, extent, ops::DimRules(call));
  } else if (std::optional<Dims> given = known_sizes(call)) {
    sizes = std::move(*given);
    call.check_shape(static_cast<int>(sizes.size()) == call.outputs(), "split has ", sizes.size(), " sizes for ", call.outputs(),
                     " outputs");
    Dim sum(0);
    for (Dim size : sizes) {
      call.check_shape(!size.is_constant() || size.constant() >= 0, "split has a negative size, ", size.text());
      sum = sum + size;
    }
    ops::same_extent(call, sum, extent, "the sum of split and the extent");
  } else {
    for (int i = 0; i < call.outputs(); ++i) sizes.push_back(call.new_symbol(cat("piece", i), 0, extent));
  }
  for (int i = 0; i < call.outputs(); ++i) set_size(call, i, axis, sizes[static_cast<std::size_t>(i)]);
  infer_contents(call, axis, sizes);
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  const int axis = ops::wrap_axis(call.attributes().integer("axis"), static_cast<int>(from.shape.size()));
  const std::int64_t extent = from.shape[static_cast<std::size_t>(axis)];
  std::int64_t first = 0;
  for (std::size_t i = 0; i < call.out.size(); ++i) {
    Shape shape = from.shape;
    std::int64_t& size = shape[static_cast<std::size_t>(axis)];
    size = call.has(1) ? ops::read_ints(call.in[1]).at(i) : call.out[i].shape[static_cast<std::size_t>(axis)];
    call.check_shape(size >= 0 && size <= extent - first, "piece ", i, " of size ", size, " starts at ", first, " of ", extent);
    ops::set_output_shape(call, static_cast<int>(i), shape);
    if (call.out[i].data) copy(piece_map(from.shape, axis, first, size), from, call.out[i]);
    first += size;
  }
}

}  // namespace

OpDef op_split() {
  return {
      .name = "Split",
      .max_inputs = 2,
      .max_outputs = -1,
      .types = "T, int -> T...; T: any",
      .attributes = {{"axis", 0}},
      .optional_attributes = "num_outputs: int",
      .infer = infer,
      .reference = reference,
      .traits = {.movement = Movement::split, .narrows = true},
      .cases = {"f32[2,6] axis=1 outputs=3", "f32[2,7] axis=-1 num_outputs=3 outputs=3", "f16[5,2] i64[2]{4,1} outputs=2",
                "i4[3,5] i64[2]{2,3} axis=1 outputs=2", "f32[4] i64[3]{0,3,1} outputs=3", "bf16[2,33,4] i64[2]{16,17} axis=1 outputs=2"}};
}

}  // namespace tenfold::ir
