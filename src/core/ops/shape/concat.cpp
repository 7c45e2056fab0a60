// Concat: tensors behind one another along an axis.
#include "ir/fault.h"
#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

// Where operand `i` goes: f(source element, result element, count) for each of its contiguous blocks.
template <class F>
void for_each_block(const std::vector<Shape>& shapes, int axis, F&& f) {
  const Shape& first = shapes.front();
  std::int64_t outer = 1, inner = 1, total = 0, before = 0;
  for (int d = 0; d < static_cast<int>(first.size()); ++d) (d < axis ? outer : inner) *= d == axis ? 1 : first[static_cast<std::size_t>(d)];
  for (const Shape& shape : shapes) total += shape[static_cast<std::size_t>(axis)];
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::int64_t extent = shapes[i][static_cast<std::size_t>(axis)], block = extent * inner;
    for (std::int64_t row = 0; row < outer; ++row) f(i, row * block, (row * total + before) * inner, block);
    before += extent;
  }
}

void infer_contents(InferCall& call, int axis, const Dims& dims) {
  const auto shape = ops::constant_shape(dims);
  std::vector<Shape> shapes;
  for (int i = 0; i < call.inputs(); ++i) {
    if (!shape || !call.contents(i)) return;
    shapes.push_back(constants(call.dims(i)));
  }
  Dims contents(static_cast<std::size_t>(element_count(*shape)));
  for_each_block(shapes, axis, [&](std::size_t i, std::int64_t source, std::int64_t result, std::int64_t count) {
    const Dims& from = *call.contents(static_cast<int>(i));
    std::copy_n(from.begin() + source, count, contents.begin() + result);
  });
  call.out_contents(0, std::move(contents));
}

void infer(InferCall& call) {
  Dims dims = call.dims(0);
  call.check_shape(!dims.empty(), "scalars cannot be concatenated");
  const int axis = call.axis(call.attributes().integer("axis"), call.rank(0));
  for (int i = 1; i < call.inputs(); ++i) {
    call.check_shape(call.rank(i) == call.rank(0), "input ", i, " has rank ", call.rank(i), ", input 0 has ", call.rank(0));
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const Dim extent = call.dims(i)[d];
      dims[d] = static_cast<int>(d) == axis ? dims[d] + extent : ops::same_extent(call, dims[d], extent, "extents beside the axis");
    }
  }
  call.out(0, call.dtype(0), dims);
  infer_contents(call, axis, dims);
}

void reference(Call& call) {
  std::vector<Shape> shapes;
  for (const TensorRef& operand : call.in) shapes.push_back(operand.shape);
  const TensorRef& to = call.out[0];
  const int axis = ops::wrap_axis(call.attributes().integer("axis"), static_cast<int>(to.shape.size()));
  for_each_block(shapes, axis, [&](std::size_t i, std::int64_t source, std::int64_t result, std::int64_t count) {
    ops::move_elements(to.dtype, call.in[i].data, source, to.data, result, count);
  });
}

}  // namespace

OpDef op_concat() {
  return {.name = "Concat",
          .max_inputs = -1,
          .types = "T... -> T; T: any",
          .optional_attributes = "axis: int",
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::concat, .narrows = true},
          .cases = {"f32[2,3] f32[2,5] axis=1", "f32[2,3] f32[1,3] f32[4,3] axis=0", "f16[2,3,4] f16[2,3,1] axis=-1",
                    "i4[3,3] i4[3,2] axis=1", "f32[2,0] f32[2,2] axis=1", "u8[7] axis=0", "bf16[1,24,3,5] bf16[1,9,3,5] axis=1"}};
}

}  // namespace tenfold::ir
