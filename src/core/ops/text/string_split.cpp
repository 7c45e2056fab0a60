// StringSplit: the parts of each string between delimiters (without one: between white space), filled up with "", and their number.
#include <algorithm>

#include "base/check.h"
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  Dims dims = call.dims(0);
  call.out(1, DType::i64, dims);
  dims.push_back(call.new_symbol("most", 0, kUnbounded));
  call.out(0, DType::string, dims);
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Words; behind `max` splits the rest stays whole, as Python's str.split has it.
std::vector<std::string> words(const std::string& text, std::int64_t max) {
  std::vector<std::string> parts;
  auto at = text.begin();
  for (;;) {
    at = std::find_if_not(at, text.end(), is_space);
    if (at == text.end()) return parts;
    auto end = static_cast<std::int64_t>(parts.size()) == max ? text.end() : std::find_if(at, text.end(), is_space);
    if (end == text.end())
      while (is_space(end[-1])) --end;
    parts.emplace_back(at, end);
    at = end == text.end() || static_cast<std::int64_t>(parts.size()) > max ? text.end() : end;
  }
}

std::vector<std::string> between(const std::string& text, const std::string& delimiter, std::int64_t max) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;   // as the standard's cases have it
  std::size_t at = 0;
  for (;;) {
    const std::size_t end = static_cast<std::int64_t>(parts.size()) == max ? std::string::npos : text.find(delimiter, at);
    parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    if (end == std::string::npos) return parts;
    at = end + delimiter.size();
  }
}

void on_values(ValueCall& call) {
  const std::vector<std::string>& all = call.strings(0);
  const std::string delimiter = call.attributes().string("delimiter");
  const std::int64_t given = call.attributes().integer("maxsplit", -1), max = given < 0 ? INT64_MAX : given;
  std::vector<std::vector<std::string>> parts;
  std::size_t widest = 0;
  for (const std::string& text : all) {
    parts.push_back(delimiter.empty() ? words(text, max) : between(text, delimiter, max));
    widest = std::max(widest, parts.back().size());
  }
  Shape shape = call.tensor(0).shape();
  Tensor counts(DType::i64, shape);
  std::vector<std::string> flat;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    counts.mutable_data<std::int64_t>()[i] = static_cast<std::int64_t>(parts[i].size());
    parts[i].resize(widest);
    flat.insert(flat.end(), std::make_move_iterator(parts[i].begin()), std::make_move_iterator(parts[i].end()));
  }
  shape.push_back(static_cast<std::int64_t>(widest));
  call.give(0, Tensor::strings(shape, std::move(flat)));
  call.give(1, counts);
}

}  // namespace

OpDef op_string_split() {
  return {.name = "StringSplit",
          .min_outputs = 1,
          .max_outputs = 2,
          .types = "string -> string, i64",
          .attributes = {{"delimiter", ""}},
          .optional_attributes = "maxsplit: int",
          .infer = infer,
          .onnx_since = 20,
          .on_host = "a GPU has no strings",
          .on_values = on_values};
}

}  // namespace tenfold::ir
