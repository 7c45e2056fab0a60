// Attributes and types of operands judged by the standard's tables.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "ir/fault.h"
#include "onnx_import/standard_table.h"

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
std::span<const StandardForm> forms_of(std::span<const StandardForm> table, std::string_view op) {
  const auto less = [](const StandardForm& form, std::string_view o) { return form.op < o; };
  const auto first = std::lower_bound(table.begin(), table.end(), op, less);
  auto last = first;
  while (last != table.end() && last->op == op) ++last;
  return {first, last};
}

// The form that an opset has, or null.
const StandardForm* form_at(std::span<const StandardForm> forms, int opset) {
  const StandardForm* form = nullptr;
  for (const StandardForm& each : forms)
    if (each.since <= opset) form = &each;
  return form;
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
std::string elsewhere(std::span<const StandardForm> forms, const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!declared(forms[i].text, name)) continue;
    const bool newest = i + 1 == forms.size();
    text += cat(text.empty() ? "" : ", ", forms[i].since, newest ? " and later" : cat(" to ", forms[i + 1].since - 1));
  }
  return text.empty() ? "" : cat("; opset ", text, text.find(',') == std::string::npos ? " has it" : " have it");
}

std::string shown(const ir::Value& operand, std::size_t at) {
  return cat("operand ", at, operand.name.empty() ? "" : cat(" ('", operand.name, "')"));
}

}  // namespace

void check_attributes_of_standard(const std::string& op, int opset, const std::map<std::string, int>& types) {
  const auto forms = forms_of(kAttributeForms, op);
  const StandardForm* const form = form_at(forms, opset);
  if (!form) return;
  for (const auto& [name, type] : types) {
    const auto found = declared(form->text, name);
    ir::validate(found.has_value(), "it has no attribute '", name, "' at opset ", opset, found ? "" : elsewhere(forms, name));
    const char is = kTypes[type].letter;
    ir::validate(found->type == is, "attribute '", name, "' is ", words(is), ", ", words(found->type), " was expected");
  }
  for (std::string_view rest = form->text; !rest.empty();) {
    const std::string name(rest.substr(0, rest.find(':')));
    const bool required = declared(rest, name)->required;
    ir::validate(!required || types.count(name), "the attribute '", name, "' is missing");
    const std::size_t next = rest.find(' ');
    rest = next == std::string_view::npos ? "" : rest.substr(next + 1);
  }
}

void check_operands_of_standard(const std::string& op, int opset, const std::vector<ir::Value*>& operands) {
  const StandardForm* const form = form_at(forms_of(kOperandForms, op), opset);
  if (!form) return;
  std::string_view letters = form->text;
  const bool repeats = letters.ends_with('+');
  if (repeats) letters.remove_suffix(1);
  std::array<std::size_t, 26> first;   // of each letter
  first.fill(operands.size());
  for (std::size_t i = 0; i < operands.size() && (i < letters.size() || repeats); ++i) {
    const char letter = letters[std::min(i, letters.size() - 1)];
    if (letter == '.' || !operands[i] || operands[i]->type.kind != ir::ValueType::Kind::tensor) continue;
    std::size_t& before = first[static_cast<std::size_t>(letter - 'a')];
    if (before == operands.size()) before = i;
    const ir::Value &one = *operands[before], &other = *operands[i];
    if (one.dtype() == other.dtype()) continue;
    ir::validate(false, shown(other, i), " of ", op, " is ", tenfold::name(other.dtype()), ", expected ", tenfold::name(one.dtype()),
                 " as ", shown(one, before), " is");
  }
}

}  // namespace tenfold::onnx_import
