// StringNormalizer: strings without stopwords, in small or capital letters; one empty string where none is left.
#include <unordered_set>

#include "ops/text/text_common.h"

namespace tenfold::ir {
namespace {

enum class Case { as_it_is, lower, upper };

Case case_of(const Attributes& a) {
  const std::string& name = a.string("case_change_action");
  validate(name == "NONE" || name == "LOWER" || name == "UPPER", "case_change_action is '", name,
           "'; the standard has NONE, LOWER and UPPER");
  return name == "NONE" ? Case::as_it_is : name == "LOWER" ? Case::lower : Case::upper;
}

void infer(InferCall& call) {
  case_of(call.attributes());
  call.check_shape(call.rank(0) == 1 || call.rank(0) == 2, "operand 0 has ", call.rank(0), " dims; [C] or [1,C] expected");
  call.check_shape(call.rank(0) == 1 || !call.dims(0)[0].is_constant() || call.dims(0)[0] == Dim(1), "operand 0 is [", text(call.dims(0)),
            "]; [C] or [1,C] expected");
  Dims dims = call.dims(0);
  dims.back() = call.new_symbol("kept", 1, max(dims.back(), Dim(1)));
  if (dims.size() == 2) dims[0] = Dim(1);
  call.out(0, DType::string, dims);
}

void on_values(ValueCall& call) {
  const Attributes& a = call.attributes();
  const Case change = case_of(a);
  const bool exact = a.integer("is_case_sensitive") != 0;
  const auto compared = [&](const std::string& s) { return exact ? s : ops::changed_case(s, change == Case::upper); };
  std::unordered_set<std::string> dropped;
  for (const std::string& word : a.strings("stopwords")) dropped.insert(compared(word));
  const Shape& from = call.tensor(0).shape();
  call.check_shape(from.size() == 1 || (from.size() == 2 && from[0] == 1), "operand 0 is ", call.in(0).text(), "; [C] or [1,C] expected");
  std::vector<std::string> kept;
  for (const std::string& s : call.strings(0)) {
    if (!dropped.empty() && dropped.count(compared(s))) continue;
    kept.push_back(change == Case::as_it_is ? s : ops::changed_case(s, change == Case::upper));
  }
  if (kept.empty()) kept.emplace_back();
  Shape shape = from;
  shape.back() = static_cast<std::int64_t>(kept.size());
  call.give(0, Tensor::strings(shape, std::move(kept)));
}

}  // namespace

OpDef op_string_normalizer() {
  return {.name = "StringNormalizer",
          .types = "string -> string",
          .attributes = {{"case_change_action", "NONE"}, {"is_case_sensitive", 0}, {"locale", ""}, {"stopwords", Strings{}}},
          .infer = infer,
          .onnx_since = 10,
          .on_host = "a GPU has no strings",
          .on_values = on_values};
}

}  // namespace tenfold::ir
