// StringCast: numbers as text, and text as numbers, as ONNX Runtime writes and reads them.
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/types/element.h"
#include "ops/elementwise/cast_common.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

DType target(const Attributes& a) {
  const std::optional<DType> type = dtype_from_name(a.string("to"));
  validate(type.has_value(), "cast to unknown type '", a.string("to"), "'");
  return *type;
}

std::string written(const Tensor& t, std::int64_t i) {
  if (is_integer(t.dtype()) || t.dtype() == DType::boolean)
    return t.dtype() == DType::u64 ? std::to_string(static_cast<std::uint64_t>(t.as_int(i))) : std::to_string(t.as_int(i));
  const double value = t.as_double(i);
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  char text[40];
  std::snprintf(text, sizeof text, "%.8g", value);
  return text;
}

void expect(const ValueCall& call, bool read, const std::string& text, DType type) {
  if (!read) call.check_shape(false, "the string '", text.substr(0, 60), "' is no ", name(type));
}

void read(const ValueCall& call, const std::string& text, Tensor& to, std::int64_t i) {
  const char* const end = text.data() + text.size();
  if (is_float(to.dtype())) {
    char* stop = nullptr;
    const double value = std::strtod(text.c_str(), &stop);
    expect(call, !text.empty() && stop == end, text, to.dtype());
    return store_double(to.dtype(), to.mutable_raw(), i, value);
  }
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  if (to.dtype() == DType::u64) {
    std::uint64_t value = 0;
    const auto [at, error] = std::from_chars(first, end, value);
    expect(call, error == std::errc() && at == end, text, to.dtype());
    return store_int(to.dtype(), to.mutable_raw(), i, static_cast<std::int64_t>(value));
  }
  std::int64_t value = 0;
  const auto [at, error] = std::from_chars(first, end, value);
  expect(call, error == std::errc() && at == end, text, to.dtype());
  store_int(to.dtype(), to.mutable_raw(), i, to.dtype() == DType::boolean ? value != 0 : value);
  expect(call, to.dtype() == DType::boolean || load_int(to.dtype(), to.raw(), i) == value, text, to.dtype());
}

void infer(InferCall& call) { call.out(0, target(call.attributes()), call.dims(0)); }

void on_values(ValueCall& call) {
  const Tensor& x = call.tensor(0);
  const DType type = target(call.attributes());
  if (x.dtype() == type) return call.give(0, x);
  if (type == DType::string) {
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < x.size(); ++i) texts.push_back(written(x, i));
    return call.give(0, Tensor::strings(x.shape(), std::move(texts)));
  }
  Tensor y(type, x.shape());
  const std::vector<std::string>& texts = call.strings(0);
  for (std::size_t i = 0; i < texts.size(); ++i) read(call, texts[i], y, static_cast<std::int64_t>(i));
  call.give(0, y);
}

}  // namespace

OpDef op_string_cast() {
  return {.name = "StringCast",
          .types = "any -> any",
          .optional_attributes = "to: string",
          .infer = infer,
          .on_host = "a GPU has no strings",
          .on_values = on_values};
}

}  // namespace tenfold::ir
