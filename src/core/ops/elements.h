// What reference kernels of movement operators share: copying elements of any type, index operands, an output's real shape.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ops {

// Copies `count` elements from number `i` on to number `j` on; sub-byte types and strings included. No overlap.
void move_elements(DType type, const void* from, std::int64_t i, void* to, std::int64_t j, std::int64_t count);
// Sets every element of `to` to element `i` of `value`.
void fill_elements(const ir::TensorRef& to, const void* value, std::int64_t i = 0);
// The reference kernel of operators that only change the shape of operand 0.
void copy_whole(ir::Call& call);

Shape row_major_strides(const Shape& shape);
ir::Ints read_ints(const ir::TensorRef& operand);
int wrap_axis(std::int64_t axis, int rank);
// A negative index counts from the end; outside [-extent, extent) it throws, naming the operand of the node.
std::int64_t wrap_index(const ir::Call& call, int operand, std::int64_t index, std::int64_t extent);
// Gives an output its real shape, which may be below the one it was allocated for; throws if it does not fit.
void set_output_shape(ir::Call& call, int output, Shape shape);

// Calls f(index, number) for every multi-index of `shape` in row-major order.
template <class F>
void for_each_index(const Shape& shape, F&& f) {
  Shape index(shape.size(), 0);
  const std::int64_t count = element_count(shape);
  for (std::int64_t number = 0; number < count; ++number) {
    f(static_cast<const Shape&>(index), number);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace tenfold::ops
