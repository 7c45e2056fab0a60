// What conversions share whatever the source of their node is: constants.
#include "onnx_ops/onnx_node.h"

#include <algorithm>
#include <cmath>

#include "base/types/element.h"
#include "ir/fault.h"

namespace tenfold::onnx_ops {

Value* OnnxImport::ints(const std::vector<std::int64_t>& values) {
  Tensor tensor(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<std::int64_t>());
  return graph_.add_constant(std::move(tensor));
}

Value* OnnxImport::scalar(DType dtype, double value) {
  validate(dtype != DType::string, "the number ", value, " cannot fill a tensor of strings");
  Tensor tensor(dtype, {});
  if (is_float(dtype)) {
    store_double(dtype, tensor.mutable_raw(), 0, value);
  } else {
    const bool countable = std::abs(value) < 0x1p63;
    if (countable) store_int(dtype, tensor.mutable_raw(), 0, static_cast<std::int64_t>(value));
    validate(countable && load_int(dtype, tensor.raw(), 0) == static_cast<std::int64_t>(value), "the number ", value, " is no value of ",
          tenfold::name(dtype));
  }
  return graph_.add_constant(std::move(tensor));
}

}  // namespace tenfold::onnx_ops
