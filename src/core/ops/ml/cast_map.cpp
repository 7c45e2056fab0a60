// CastMap: what a map with integer keys holds, in the order of its keys or at the places that these name.
#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/types/element.h"
#include "ops/elements.h"
#include "ops/ml/labels_common.h"

namespace tenfold::ir {
namespace {

DType made(const Attributes& a) {
  const std::string& to = a.string("cast_to");
  validate(to == "TO_FLOAT" || to == "TO_STRING" || to == "TO_INT64", "cast_to is '", to, "', TO_FLOAT, TO_STRING or TO_INT64 expected");
  return to == "TO_FLOAT" ? DType::f32 : to == "TO_STRING" ? DType::string : DType::i64;
}

bool is_sparse(const Attributes& a) {
  const std::string& form = a.string("map_form");
  validate(form == "DENSE" || form == "SPARSE", "map_form is '", form, "', DENSE or SPARSE expected");
  return form == "SPARSE";
}

void infer(InferCall& call) {
  const ValueType& type = call.type(0);
  call.validate(type.kind == ValueType::Kind::map && type.key == DType::i64 && type.element().is_tensor(), "operand 0 is ", text(type),
                ", a map from i64 expected");
  const std::int64_t max = call.attributes().integer("max_map");
  const bool sparse = is_sparse(call.attributes());
  call.validate(!sparse || (max > 0 && max <= 1 << 24), "max_map is ", max, ", 1 to 2^24 expected");
  call.out(0, made(call.attributes()), {1, sparse ? Dim(max) : call.new_symbol("count", 0, kUnbounded)});
}

// One value of the map as text, or as a number.
std::string word_of(const Tensor& value) {
  if (value.dtype() == DType::string) return static_cast<const std::string*>(value.raw())[0];
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, *value.data<float>()).ptr};
}
double number_of(const Tensor& value, const ValueCall& call) {
  if (value.dtype() != DType::string) return static_cast<double>(*value.data<float>());
  const std::string& word = static_cast<const std::string*>(value.raw())[0];
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  call.check_shape(error == std::errc() && end == word.data() + word.size(), "the map holds '", word, "', which is no number");
  return number;
}

void on_values(ValueCall& call) {
  const Attributes& a = call.attributes();
  const ValueMap& map = call.in(0).as_map();
  call.check_shape(map.keys.dtype() == DType::i64, "the map's keys are ", name(map.keys.dtype()), ", i64 expected");
  const std::int64_t* keys = map.keys.data<std::int64_t>();
  const bool sparse = is_sparse(a);
  const std::int64_t size = sparse ? a.integer("max_map") : map.keys.size();
  const DType type = made(a);
  Strings words(type == DType::string ? static_cast<std::size_t>(size) : 0, "0.f");   // as ONNX Runtime fills gaps
  std::vector<double> numbers(type == DType::string ? 0 : static_cast<std::size_t>(size));
  std::vector<std::size_t> order(map.values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t l, std::size_t r) { return keys[l] < keys[r]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t at = sparse ? keys[order[i]] : static_cast<std::int64_t>(i);
    call.check_index(at >= 0 && at < size, "the map has the key ", at, ", outside of [0, ", size, ")");
    const Tensor& value = map.values[order[i]].tensor();
    call.check_shape(value.size() == 1 && (value.dtype() == DType::f32 || value.dtype() == DType::string), "a value of the map is ",
                     map.values[order[i]].text(), ", one f32 or string expected");
    if (type == DType::string) words[static_cast<std::size_t>(at)] = word_of(value);
    else numbers[static_cast<std::size_t>(at)] = number_of(value, call);
  }
  if (type == DType::string) return call.give(0, Tensor::strings({1, size}, words));
  Tensor y(type, {1, size});
  for (std::int64_t i = 0; i < size; ++i) store_double(type, y.mutable_raw(), i, numbers[static_cast<std::size_t>(i)]);
  call.give(0, std::move(y));
}

}  // namespace

OpDef op_cast_map() {
  return {.name = "CastMap",
          .types = "* -> string|f32|i64",
          .attributes = {{"cast_to", "TO_FLOAT"}, {"map_form", "DENSE"}, {"max_map", 1}},
          .infer = infer,
          .onnx_since = 1,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "a GPU has no maps",
          .on_values = on_values};
}

}  // namespace tenfold::ir
