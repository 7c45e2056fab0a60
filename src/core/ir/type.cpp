// Text form of types: "f32[batch,128]", "seq(map(i64,f32[]))", "opt(f32[?])".
#include "ir/type.h"

#include "base/check.h"
#include "ir/fault.h"
#include "ir/scan.h"

namespace tenfold::ir {

using Kind = ValueType::Kind;

ValueType ValueType::element() const {
  check(!is_tensor(), "a tensor has no elements with types of their own");
  ValueType type = *this;
  type.kind = inner[0].kind, type.key = inner[0].key;
  for (std::size_t i = 0; i < inner.size(); ++i) type.inner[i] = i + 1 < inner.size() ? inner[i + 1] : Layer{};
  return type;
}

ValueType ValueType::without_dims() const {
  ValueType type = *this;
  type.tensor.dims.clear();
  type.ranked = true, type.unfilled = false;
  return type;
}

namespace {

ValueType around(Kind kind, DType key, const ValueType& element) {
  require(element.inner.back().kind == Kind::tensor, ErrorKind::unsupported, "a type with more than ", kMaxLayers,
          " sequences, optionals and maps around each other");
  ValueType type = element;
  for (std::size_t i = type.inner.size(); i-- > 1;) type.inner[i] = element.inner[i - 1];
  type.inner[0] = {element.kind, element.key};
  type.kind = kind, type.key = key;
  return type;
}

}  // namespace

ValueType sequence_of(ValueType element) { return around(Kind::sequence, DType::f32, element); }
ValueType optional_of(ValueType element) { return around(Kind::optional, DType::f32, element); }
ValueType map_of(DType key, ValueType element) {
  validate(key == DType::string || is_integer(key), "a map with keys of ", name(key), "; the standard has integers and strings");
  return around(Kind::map, key, element);
}

std::string text(const TensorType& type) { return std::string(name(type.dtype)) + "[" + text(type.dims) + "]"; }

std::string text(const ValueType& type) {
  switch (type.kind) {
    case Kind::sequence: return "seq(" + text(type.element()) + ")";
    case Kind::optional: return "opt(" + text(type.element()) + ")";
    case Kind::map: return cat("map(", name(type.key), ",", text(type.element()), ")");
    case Kind::tensor:
    case Kind::count_: break;
  }
  return type.ranked ? text(type.tensor) : std::string(name(type.tensor.dtype)) + (type.unfilled ? "[-]" : "[?]");
}

namespace {

DType parse_dtype(Scanner& in, std::string_view stops) {
  const std::string word = in.until(stops);
  const auto dtype = dtype_from_name(word);
  if (!dtype) in.bad("an element type expected, found '" + word + "'");
  return *dtype;
}

ValueType parse_layers(Scanner& in, std::size_t layers) {
  const bool sequence = in.take("seq("), optional = !sequence && in.take("opt("), map = !sequence && !optional && in.take("map(");
  if (sequence || optional || map) {
    if (layers == kMaxLayers) in.bad(cat("at most ", kMaxLayers, " sequences, optionals and maps around each other expected"));
    DType key = DType::f32;
    if (map) key = parse_dtype(in, ", "), in.expect(',');
    const ValueType element = parse_layers(in, layers + 1);
    in.expect(')');
    return map ? map_of(key, element) : sequence ? sequence_of(element) : optional_of(element);
  }
  ValueType type;
  type.tensor.dtype = parse_dtype(in, "[ ");
  in.expect('[');
  if (in.take("?]") || in.looking_at("-]")) {
    type.ranked = false;
    type.unfilled = in.take("-]");
    return type;
  }
  while (!in.take(']')) {
    const Dim extent = Dim::parse(in.until(",]"));
    if (extent.is_constant() && extent.constant() < 0) in.bad("an extent of 0 or more expected, not " + extent.text());
    type.tensor.dims.push_back(extent);
    if (!in.take(',') && in.peek() != ']') in.bad("',' or ']' expected");
  }
  return type;
}

}  // namespace

ValueType parse_type(Scanner& in) { return parse_layers(in, 0); }

ValueType parse_type(std::string_view text) {
  Scanner in(text);
  ValueType type = parse_type(in);
  in.expect_end();
  return type;
}

}  // namespace tenfold::ir
