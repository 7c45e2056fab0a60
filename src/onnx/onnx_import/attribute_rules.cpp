// Attributes judged by the standard's table.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "ir/fault.h"
#include "onnx_import/attribute_table.h"

namespace tenfold::onnx_import {
namespace {

struct Declared {
  char type;
  bool required;
};

// The entry of `name` in a list like "axis:i! keepdims:i".
std::optional<Declared> declared(std::string_view attributes, std::string_view name) {
  for (std::size_t at = 0; at < attributes.size();) {
    const std::size_t end = std::min(attributes.find(' ', at), attributes.size());
    const std::string_view entry = attributes.substr(at, end - at);
    const std::size_t colon = entry.find(':');
    if (entry.substr(0, colon) == name) return Declared{entry[colon + 1], entry.back() == '!'};
    at = end + 1;
  }
  return std::nullopt;
}

// The forms of one operator, oldest first.
std::pair<const AttributeForm*, const AttributeForm*> forms_of(const std::string& op) {
  const auto less = [](const char* a, const char* b) { return std::strcmp(a, b) < 0; };
  const AttributeForm* const end = kAttributeForms + kNumberOfAttributeForms;
  const auto* first =
      std::lower_bound(kAttributeForms, end, op.c_str(), [&](const AttributeForm& f, const char* o) { return less(f.op, o); });
  const auto* last = first;
  while (last != end && op == last->op) ++last;
  return {first, last};
}

// By AttributeProto's numbers of types: a letter of the table, and words.
struct Type {
  char letter;
  const char* words;
};
constexpr Type kTypes[] = {{'?', "nothing"},     {'f', "a float"},    {'i', "an int"},  {'s', "a string"}, {'t', "a tensor"},
                           {'g', "a graph"},     {'F', "floats"},     {'I', "ints"},    {'S', "strings"},  {'T', "tensors"},
                           {'G', "graphs"},      {'x', "a sparse tensor"}, {'X', "sparse tensors"}, {'p', "a type"}, {'P', "types"}};

const char* words(char letter) {
  for (const Type& type : kTypes)
    if (type.letter == letter) return type.words;
  return "";
}

// Which opsets have the attribute, where this one has not.
std::string elsewhere(const AttributeForm* first, const AttributeForm* last, const std::string& name) {
  std::string text;
  for (const AttributeForm* form = first; form != last; ++form) {
    if (!declared(form->attributes, name)) continue;
    const bool newest = form + 1 == last;
    text += cat(text.empty() ? "" : ", ", form->since, newest ? " and later" : cat(" to ", form[1].since - 1));
  }
  return text.empty() ? "" : cat("; opset ", text, text.find(',') == std::string::npos ? " has it" : " have it");
}

}  // namespace

void check_against_standard(const std::string& op, int opset, const std::map<std::string, int>& types) {
  const auto [first, last] = forms_of(op);
  const AttributeForm* form = nullptr;
  for (const AttributeForm* f = first; f != last && f->since <= opset; ++f) form = f;
  if (!form) return;
  for (const auto& [name, type] : types) {
    const auto found = declared(form->attributes, name);
    ir::validate(found.has_value(), "it has no attribute '", name, "' at opset ", opset, found ? "" : elsewhere(first, last, name));
    const char is = kTypes[type].letter;
    ir::validate(found->type == is, "attribute '", name, "' is ", words(is), ", ", words(found->type), " was expected");
  }
  for (std::string_view rest = form->attributes; !rest.empty();) {
    const std::string name(rest.substr(0, rest.find(':')));
    const bool required = declared(rest, name)->required;
    ir::validate(!required || types.count(name), "the attribute '", name, "' is missing");
    const std::size_t next = rest.find(' ');
    rest = next == std::string_view::npos ? "" : rest.substr(next + 1);
  }
}

}  // namespace tenfold::onnx_import
