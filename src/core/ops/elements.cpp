// Copying elements of any type, and the checks on indices and shapes that movement kernels share.
#include "ops/elements.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/types/element.h"

namespace tenfold::ops {
namespace {

// Types below a byte are packed low bits first, whatever they encode: their bits move unread.
void move_packed(int width, const std::uint8_t* from, std::int64_t i, std::uint8_t* to, std::int64_t j, std::int64_t count) {
  const int per_byte = 8 / width;
  const unsigned mask = (1u << width) - 1;
  for (std::int64_t k = 0; k < count; ++k) {
    const unsigned value = from[(i + k) / per_byte] >> ((i + k) % per_byte * width) & mask;
    const int shift = static_cast<int>((j + k) % per_byte * width);
    std::uint8_t& target = to[(j + k) / per_byte];
    target = static_cast<std::uint8_t>((target & ~(mask << shift)) | value << shift);
  }
}

}  // namespace

void move_elements(DType type, const void* from, std::int64_t i, void* to, std::int64_t j, std::int64_t count) {
  if (count <= 0) return;
  if (type == DType::string) {
    std::copy_n(static_cast<const std::string*>(from) + i, count, static_cast<std::string*>(to) + j);
    return;
  }
  const int width = bits(type);
  const auto* source = static_cast<const std::uint8_t*>(from);
  auto* target = static_cast<std::uint8_t*>(to);
  if (width % 8 != 0) return move_packed(width, source, i, target, j, count);
  const std::int64_t bytes = width / 8;
  std::memcpy(target + j * bytes, source + i * bytes, static_cast<std::size_t>(count * bytes));
}

void fill_elements(const ir::TensorRef& to, const void* value, std::int64_t i) {
  for (std::int64_t j = 0; j < to.size(); ++j) move_elements(to.dtype, value, i, to.data, j, 1);
}

void copy_whole(ir::Call& call) {
  const ir::TensorRef& from = call.in[0];
  call.check_shape(from.size() == call.out[0].size(), "shape ", text(from.shape), " does not fit ", text(call.out[0].shape));
  move_elements(from.dtype, from.data, 0, call.out[0].data, 0, from.size());
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = checked_mul(strides[d], shape[d]);
  return strides;
}

ir::Ints read_ints(const ir::TensorRef& operand) {
  ir::Ints values(static_cast<std::size_t>(operand.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_int(operand.dtype, operand.data, static_cast<std::int64_t>(i));
  return values;
}

int wrap_axis(std::int64_t axis, int rank) {
  ir::check_shape(axis >= -rank && axis < rank, "axis ", axis, " is outside a tensor of rank ", rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::int64_t wrap_index(const ir::Call& call, int operand, std::int64_t index, std::int64_t extent) {
  call.check_index(index >= -extent && index < extent, "index ", index, " in input ", operand, " is outside [", -extent, ", ", extent, ")");
  return index < 0 ? index + extent : index;
}

void set_output_shape(ir::Call& call, int output, Shape shape) {
  const Shape& allocated = call.out[static_cast<std::size_t>(output)].shape;
  if (allocated == shape) return;
  call.check_shape(element_count(shape) <= element_count(allocated), "output ", output, " has shape ", text(shape),
                   ", which does not fit the ", text(allocated), " planned for it");
  call.shrink(output, std::move(shape));
}

}  // namespace tenfold::ops
