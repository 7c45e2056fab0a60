// Triton's extension "classification": the classes of the largest values, in place of the values.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/datatype.h"
#include "core/wishes.h"

namespace tenfold::server {
namespace {

// NaN is below all numbers; of equal values the first is the larger.
template <class T>
bool is_larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  return a > b;
}

template <class T>
void append_classes(InferOutput& to, const std::byte* row, std::size_t count, std::size_t classes, const std::vector<std::string>& labels) {
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), row, count * sizeof(T));
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return is_larger(values[a], values[b]) || (!is_larger(values[b], values[a]) && a < b);
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(classes), order.end(), before);
  for (std::size_t i = 0; i < classes; ++i) {
    std::string text = std::to_string(values[order[i]]) + ":" + std::to_string(order[i]);
    if (order[i] < labels.size() && !labels[order[i]].empty()) text += ":" + labels[order[i]];
    to.strings.push_back(std::move(text));
  }
}

void append_classes(InferOutput& to, DType dtype, const std::byte* row, std::size_t count, std::size_t classes,
                    const std::vector<std::string>& labels) {
  switch (dtype) {
    case DType::u8: return append_classes<std::uint8_t>(to, row, count, classes, labels);
    case DType::u16: return append_classes<std::uint16_t>(to, row, count, classes, labels);
    case DType::u32: return append_classes<std::uint32_t>(to, row, count, classes, labels);
    case DType::u64: return append_classes<std::uint64_t>(to, row, count, classes, labels);
    case DType::i8: return append_classes<std::int8_t>(to, row, count, classes, labels);
    case DType::i16: return append_classes<std::int16_t>(to, row, count, classes, labels);
    case DType::i32: return append_classes<std::int32_t>(to, row, count, classes, labels);
    case DType::i64: return append_classes<std::int64_t>(to, row, count, classes, labels);
    case DType::f32: return append_classes<float>(to, row, count, classes, labels);
    case DType::f64: return append_classes<double>(to, row, count, classes, labels);
    default:
      throw RequestError(Code::invalid_argument, "class result not available for output '" + to.name + "' due to unsupported type '" +
                                                     std::string(v2_name(dtype)) + "'");
  }
}

}  // namespace

InferOutput classified(const InferOutput& output, std::uint32_t classes, const std::vector<std::string>& labels, bool batched) {
  const std::int64_t rows = batched && !output.shape.empty() ? output.shape[0] : 1;
  const std::int64_t count = rows > 0 ? element_count(output.shape) / rows : 0;
  const std::int64_t shown = std::min<std::int64_t>(classes, count);
  InferOutput to;
  to.name = output.name, to.dtype = DType::string;
  to.shape = batched ? Shape{rows, shown} : Shape{shown};
  const std::int64_t row_bytes = output.dtype == DType::string ? 0 : byte_size(output.dtype, count);
  for (std::int64_t row = 0; row < rows; ++row)
    append_classes(to, output.dtype, output.bytes.data.get() + row * row_bytes, static_cast<std::size_t>(count),
                   static_cast<std::size_t>(shown), labels);
  return to;
}

}  // namespace tenfold::server
