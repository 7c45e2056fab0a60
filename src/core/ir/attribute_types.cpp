// Reading a declaration of attributes, and comparing a node's with it.
#include "ir/attribute_types.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "ir/fault.h"
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

struct Word {
  std::string_view name, text;
};
constexpr std::array<Word, 7> kWords{{{"int", "an int"},
                                      {"float", "a float"},
                                      {"string", "a string"},
                                      {"ints", "ints"},
                                      {"floats", "floats"},
                                      {"strings", "strings"},
                                      {"tensor", "a tensor"}}};
static_assert(kWords.size() == std::variant_size_v<Attribute>);

}  // namespace

AttributeTypes::Kind kind_from_name(std::string_view name) {
  const auto word = std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.name == name; });
  check(word != kWords.end(), "'", name, "' is no type of an attribute");
  return static_cast<AttributeTypes::Kind>(word - kWords.begin());
}
std::string_view name_of(AttributeTypes::Kind kind) { return kWords.at(kind).name; }
std::string_view text_of(AttributeTypes::Kind kind) { return kWords.at(kind).text; }

AttributeTypes::AttributeTypes(const char* text) : text_(text) {
  constexpr std::string_view kBetween = ", ", kBehindName = ": ";
  for (std::string_view rest = text_; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(kBetween));
    const std::size_t colon = one.find(kBehindName);
    check(colon != std::string_view::npos && colon > 0, "'", text_, "': 'NAME: TYPE' expected, not '", one, "'");
    add(std::string(one.substr(0, colon)), kind_from_name(one.substr(colon + kBehindName.size())));
    rest.remove_prefix(std::min(rest.size(), one.size() + kBetween.size()));
  }
}

const AttributeTypes::Kind* AttributeTypes::find(std::string_view name) const {
  const auto found = std::find_if(list_.begin(), list_.end(), [&](const auto& a) { return a.first == name; });
  return found == list_.end() ? nullptr : &found->second;
}

void check_attributes(const Attributes& defaults, const AttributeTypes& others, const Attributes& attributes) {
  for (const auto& [name, value] : attributes) {
    const AttributeTypes::Kind* expected = others.find(name);
    const auto standard =
        std::find_if(defaults.begin(), defaults.end(), [&requested = name](const auto& a) { return a.first == requested; });
    validate(expected || standard != defaults.end(), "it has no attribute '", name, "'");
    const AttributeTypes::Kind kind = expected ? *expected : standard->second.index();
    validate(kind == value.index(), "attribute '", name, "' is ", text_of(value.index()), ", ", text_of(kind), " was expected");
  }
}

void check_attributes(const OpDef& def, const Attributes& attributes) {
  check_attributes(def.attributes, def.optional_attributes, attributes);
}

std::string attributes_text(const OpDef& def) {
  const std::string defaults = text(def.attributes), &others = def.optional_attributes.text();
  return cat(defaults, defaults.empty() || others.empty() ? "" : "; ", others);
}

}  // namespace tenfold::ir
