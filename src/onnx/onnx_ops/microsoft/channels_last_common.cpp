// Channels moved to the front and back.
#include "onnx_ops/microsoft/channels_last_common.h"

namespace tenfold::onnx_ops {
namespace {

std::int64_t rank_of(const Value* images) {
  supported(images->type.ranked, "images of unknown rank");
  check_shape(images->rank() >= 3, "images have rank ", images->rank(), ", 3 or more expected");
  return images->rank();
}

}  // namespace

Value* with_channels_first(OnnxImport& call, Value* images) {
  const std::int64_t rank = rank_of(images);
  Ints order{0, rank - 1};
  for (std::int64_t d = 1; d < rank - 1; ++d) order.push_back(d);
  return transposed(call, images, order);
}

Value* with_channels_last(OnnxImport& call, Value* images) {
  const std::int64_t rank = rank_of(images);
  Ints order{0};
  for (std::int64_t d = 2; d < rank; ++d) order.push_back(d);
  order.push_back(1);
  return transposed(call, images, order);
}

}  // namespace tenfold::onnx_ops
