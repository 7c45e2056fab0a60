// Text form of types: "f32[batch,128]", "seq(f32[2])", "opt(f32[?])".
#include "ir/type.h"

#include "base/check.h"
#include "ir/scan.h"

namespace tenfold::ir {

std::string text(const TensorType& type) { return std::string(name(type.dtype)) + "[" + text(type.dims) + "]"; }

std::string text(const ValueType& type) {
  const std::string tensor = type.ranked ? text(type.tensor) : std::string(name(type.tensor.dtype)) + "[?]";
  switch (type.kind) {
    case ValueType::Kind::tensor: return tensor;
    case ValueType::Kind::sequence: return "seq(" + tensor + ")";
    case ValueType::Kind::optional: return "opt(" + tensor + ")";
    case ValueType::Kind::optional_sequence: return "optseq(" + tensor + ")";
    case ValueType::Kind::count_: break;
  }
  return tensor;
}

ValueType parse_type(Scanner& in) {
  ValueType type;
  if (in.take("seq(")) type.kind = ValueType::Kind::sequence;
  else if (in.take("optseq(")) type.kind = ValueType::Kind::optional_sequence;
  else if (in.take("opt(")) type.kind = ValueType::Kind::optional;
  const std::string word = in.until("[ ");
  const auto dtype = dtype_from_name(word);
  if (!dtype) in.bad("an element type expected, found '" + word + "'");
  type.tensor.dtype = *dtype;
  in.expect('[');
  if (in.take('?')) {
    type.ranked = false;
    in.expect(']');
  } else {
    while (!in.take(']')) {
      type.tensor.dims.push_back(Dim::parse(in.until(",]")));
      if (!in.take(',') && in.peek() != ']') in.bad("',' or ']' expected");
    }
  }
  if (type.kind != ValueType::Kind::tensor) in.expect(')');
  return type;
}

ValueType parse_type(std::string_view text) {
  Scanner in(text);
  ValueType type = parse_type(in);
  in.expect_end();
  return type;
}

}  // namespace tenfold::ir
