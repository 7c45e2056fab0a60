// What a row of transposes and reshapes does to the dims of its source: each dim in parts, which transposes move and reshapes regroup.
#pragma once

#include "ir/op_def.h"

namespace tenfold::passes {

class DimParts {
 public:
  explicit DimParts(const ir::Dims& source);

  // Goes past a Transpose, Reshape, Squeeze, Unsqueeze or Flatten of the value that was reached. False: it regroups what are no parts.
  bool follow(const ir::Node& n);
  bool moves() const;   // whether parts stand in another order than the source's

  // The dim of the source of which an axis of the value reached is the outermost part, and how many elements of that dim one step along
  // the axis is; nothing where it is no such part.
  struct Outermost { std::size_t dim = 0; std::int64_t step = 1; };
  std::optional<Outermost> outermost(std::size_t axis) const;
  void resize(std::size_t axis, std::int64_t extent);   // of an outermost part: as many of it are left

  // What was followed as one Reshape, one Transpose and one Reshape of `source`, as far as these are needed; null: no Reshape says it.
  ir::Value* apply(ir::Graph& graph, ir::Value* source, const ir::Dims& dims, ir::Node* before) const;

 private:
  struct Part { ir::Dim size; std::size_t dim; };
  using Group = std::vector<std::size_t>;   // parts, by number

  void split(std::size_t part, std::int64_t outer, std::int64_t inner);
  bool regroup(const ir::Dims& to);

  std::vector<Part> parts_;     // in the source's order; dims of 1 have none
  std::vector<Group> groups_;   // of each dim of the value reached
};

}  // namespace tenfold::passes
