// Which of the model's nodes an entry of LayerTypes is about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "tenfold/precision.h"

namespace tenfold::passes {

// One '*' in `pattern` stands for any characters; "\*" is a star itself.
bool fits(std::string_view pattern, std::string_view name);
bool is_pattern(std::string_view layers);
std::size_t star_of(std::string_view layers);            // where the '*' of a pattern stands; npos: there is none
std::string without_escapes(std::string_view layers);    // of a name that is no pattern

// A table's nodes by their names, so that thousands of entries find theirs at once. The table lives as long.
class LayerNames {
 public:
  explicit LayerNames(const ir::NameTable& table);
  std::vector<std::int32_t> that_fit(std::string_view layers) const;   // numbers, ascending

 private:
  const ir::NameTable& table_;
  std::unordered_map<std::string_view, std::vector<std::int32_t>> by_name_;
};

// An entry's types, and whether a pattern led to it: it then says nothing of nodes without floats.
struct LayerRule {
  std::vector<DType> types;
  bool by_pattern = false;
};
// By number in the table (ir/names.h). A name goes before a pattern, a later entry before an earlier one.
using LayerRules = std::unordered_map<std::int32_t, LayerRule>;
LayerRules precision_rules(const ir::NameTable& table, const LayerTypes& types);
LayerRules output_rules(const ir::NameTable& table, const LayerTypes& types);
// What output_rules() want of result `o` of a node, if it is a result of a layer that they are about.
std::optional<DType> output_type(const ir::NameTable& table, const LayerRules& rules, const ir::Node& node, std::size_t o);

}  // namespace tenfold::passes
