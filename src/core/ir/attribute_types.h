// AttributeTypes: the attributes that an operator has without a default, and their types, declared in one line.
//
//   axis: int, scales: floats      int, float, string, tensor; lists: ints, floats, strings
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/attributes.h"

namespace tenfold::ir {

struct OpDef;

class AttributeTypes {
 public:
  using Kind = std::size_t;   // Attribute::index()

  AttributeTypes() = default;
  AttributeTypes(const char* text);   // throws internal for what is no declaration
  const std::string& text() const { return text_; }
  const Kind* find(std::string_view name) const;   // null: not declared
  void add(std::string name, Kind kind) { list_.emplace_back(std::move(name), kind); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::string text_;
  std::vector<std::pair<std::string, Kind>> list_;
};

AttributeTypes::Kind kind_from_name(std::string_view name);   // "ints"; throws internal
std::string_view name_of(AttributeTypes::Kind kind);          // as it is declared
std::string_view text_of(AttributeTypes::Kind kind);          // in words: "a list of integers"

// Throws a fault for an attribute that is neither among those with a default nor declared, or that has another type than is expected.
void check_attributes(const Attributes& defaults, const AttributeTypes& others, const Attributes& attributes);
// The same of an operator, as Graph::infer does for every node.
void check_attributes(const OpDef& def, const Attributes& attributes);
// All attributes of an operator in one line, for people: "keepdims=1 noop_with_empty_axes=0; axes: ints".
std::string attributes_text(const OpDef& def);

}  // namespace tenfold::ir
