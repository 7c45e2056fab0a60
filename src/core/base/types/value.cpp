// RuntimeValue: what it holds, asked for by kind.
#include "tenfold/value.h"

#include "base/check.h"

namespace tenfold {

RuntimeValue RuntimeValue::sequence(std::vector<RuntimeValue> elements) {
  return std::make_shared<const std::vector<RuntimeValue>>(std::move(elements));
}

RuntimeValue RuntimeValue::map(Tensor keys, std::vector<RuntimeValue> values) {
  require(keys.defined() && keys.rank() == 1 && keys.size() == static_cast<std::int64_t>(values.size()), ErrorKind::invalid_argument,
          "a map of ", values.size(), " values needs as many keys in a tensor of rank 1, ",
          keys.defined() ? cat(name(keys.dtype()), "[", tenfold::text(keys.shape()), "]") : "none", " given");
  return std::make_shared<const ValueMap>(ValueMap{std::move(keys), std::move(values)});
}

const Tensor& RuntimeValue::tensor() const {
  require(is_tensor(), ErrorKind::invalid_argument, "a tensor was expected, this is ", text());
  return std::get<Tensor>(*this);
}
const std::vector<RuntimeValue>& RuntimeValue::elements() const {
  require(is_sequence(), ErrorKind::invalid_argument, "a sequence was expected, this is ", text());
  return *std::get<2>(*this);
}
const ValueMap& RuntimeValue::as_map() const {
  require(is_map(), ErrorKind::invalid_argument, "a map was expected, this is ", text());
  return *std::get<3>(*this);
}

std::string RuntimeValue::text() const {
  switch (index()) {
    case 1: return cat("a tensor of ", name(std::get<Tensor>(*this).dtype()), "[", tenfold::text(std::get<Tensor>(*this).shape()), "]");
    case 2: return cat("a sequence of ", std::get<2>(*this)->size());
    case 3: return cat("a map of ", std::get<3>(*this)->values.size());
    default: return "nothing";
  }
}

}  // namespace tenfold
