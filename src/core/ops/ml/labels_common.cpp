// Lists of labels, and choosing from them.
#include "ops/ml/labels_common.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "ops/elements.h"

namespace tenfold::ops {

Tensor class_labels(const ir::Attributes& attributes, const std::string& integers, const std::string& strings) {
  const ir::Ints numbers = attributes.ints(integers, {});
  const ir::Strings words = attributes.has(strings) ? attributes.strings(strings) : ir::Strings();
  ir::validate(numbers.empty() != words.empty(), "one of the attributes '", integers, "' and '", strings, "' has to list labels, ",
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

KeyPlaces::KeyPlaces(const Tensor& keys, DType requested)
    : keys_(keys), words_(keys.dtype() == DType::string), real_(is_float(keys.dtype()) || is_float(requested)) {
  for (std::int64_t i = 0; i < keys_.size(); ++i)
    if (words_) by_word_.emplace(keys_.string_values()[static_cast<std::size_t>(i)], i);
    else by_bits_.emplace(bits_of(keys_, i), i);
}

std::int64_t KeyPlaces::find(const Tensor& elements, std::int64_t i) const {
  if (words_) {
    const auto at = by_word_.find(elements.string_values()[static_cast<std::size_t>(i)]);
    return at == by_word_.end() ? -1 : at->second;
  }
  const auto at = by_bits_.find(bits_of(elements, i));
  return at == by_bits_.end() ? -1 : at->second;
}

std::uint64_t KeyPlaces::bits_of(const Tensor& t, std::int64_t i) const {
  if (!real_) return static_cast<std::uint64_t>(t.as_int(i));
  const double given = t.as_double(i), value = std::isnan(given) ? NAN : given == 0 ? 0.0 : given;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace tenfold::ops
