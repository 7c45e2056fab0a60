// RegexFullMatch: whether each string as a whole matches a pattern in RE2's syntax.
#include "ops/text/regex_common.h"

#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.validate(call.attributes().has("pattern"), "pattern is missing");
  ops::FullMatch{call.attributes().string("pattern")};   // throws what is wrong with it, before a plan is made and when one is loaded
  call.out(0, DType::boolean, call.dims(0));
}

void on_values(ValueCall& call) {
  const ops::FullMatch matches(call.attributes().string("pattern"));
  Tensor y(DType::boolean, call.tensor(0).shape());
  bool* to = y.mutable_data<bool>();
  for (const std::string& text : call.strings(0)) {
    call.check_shape(static_cast<std::int64_t>(text.size()) <= matches.max_bytes(), "a string of ", text.size(),
              " bytes is too long for its pattern; at most ", matches.max_bytes(), " are matched");
    *to++ = matches(text);
  }
  call.give(0, y);
}

}  // namespace

OpDef op_regex_full_match() {
  return {.name = "RegexFullMatch",
          .types = "string -> bool",
          .optional_attributes = "pattern: string",
          .infer = infer,
          .onnx_since = 20,
          .cases = {R"(string[2,9] pattern="a.*|[bc]+")",
                    R"(string[3]{"www.google.com","www.bbc.co.uk",""} pattern="www\\.[\\w.-]+\\.\\bcom\\b")",
                    R"(string[]{"a"} pattern="")", R"(string[0,2]{} pattern="a*")"},
          .on_host = "a GPU has no strings",
          .on_values = on_values};
}

}  // namespace tenfold::ir
