// Shorthand that operators' import functions use to make constants.
#include "ops/onnx_node.h"

#include <algorithm>

#include "base/element.h"

namespace tenfold::ir {

Value* OnnxImport::ints(const std::vector<std::int64_t>& values) {
  Tensor tensor(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<std::int64_t>());
  return graph_.add_constant(std::move(tensor));
}

Value* OnnxImport::scalar(DType dtype, double value) {
  Tensor tensor(dtype, {});
  if (is_float(dtype)) store_double(dtype, tensor.mutable_raw(), 0, value);
  else store_int(dtype, tensor.mutable_raw(), 0, static_cast<std::int64_t>(value));
  return graph_.add_constant(std::move(tensor));
}

}  // namespace tenfold::ir
