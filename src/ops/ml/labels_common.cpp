// Lists of labels, and choosing from them.
#include "ops/ml/labels_common.h"

#include <algorithm>

#include "base/check.h"
#include "ops/elements.h"

namespace tenfold::ops {

Tensor class_labels(const ir::Attributes& attributes, const std::string& integers, const std::string& strings) {
  const ir::Ints numbers = attributes.ints(integers, {});
  const ir::Strings words = attributes.has(strings) ? attributes.strings(strings) : ir::Strings();
  ir::require_sound(numbers.empty() != words.empty(), "one of the attributes '", integers, "' and '", strings, "' has to list labels, ",
                    numbers.empty() ? "neither does" : "both do");
  if (!words.empty()) return Tensor::strings({static_cast<std::int64_t>(words.size())}, words);
  Tensor list(DType::i64, {static_cast<std::int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), list.mutable_data<std::int64_t>());
  return list;
}

Tensor picked(const Tensor& list, const std::vector<std::int64_t>& indices) {
  Tensor result(list.dtype(), {static_cast<std::int64_t>(indices.size())});
  for (std::size_t i = 0; i < indices.size(); ++i)
    move_elements(list.dtype(), list.raw(), indices[i], result.mutable_raw(), static_cast<std::int64_t>(i), 1);
  return result;
}

}  // namespace tenfold::ops
