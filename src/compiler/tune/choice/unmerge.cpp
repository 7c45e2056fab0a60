// A product that passes/merge_gemms made of several, against its parts: autotuned like a cut.
#include <algorithm>
#include <iterator>

#include "ir/lineage.h"
#include "ops/fold.h"
#include "ops/matmul/is_matmul.h"
#include "tune/choice/unfuse.h"

namespace tenfold::tune {
namespace {

// The Split along columns that alone reads a product with constant weights, or null.
const ir::Node* split_after(const ir::Graph& graph, const ir::Node& n) {
  if (!ops::is_matmul(n) || n.outputs.size() != 1 || graph.is_output(n.out()) || n.out()->users.size() != 1) return nullptr;
  const ir::Node* split = n.out()->users[0];
  if (split->def->traits.movement != ir::Movement::split || split->body || !n.in(1)->is_constant() || n.in(1)->rank() != 2 ||
      bits(n.in(1)->dtype()) < 8)
    return nullptr;
  if (n.in(3) && (n.anchor_inputs < 0 || n.anchor_inputs > 3)) return nullptr;   // zero points of the weights
  for (int i = 2; i < static_cast<int>(n.inputs.size()) && (n.anchor_inputs < 0 || i < n.anchor_inputs); ++i)
    if (n.in(i) && n.in(i)->rank() == 2) return nullptr;  // scales of the weights
  const std::int64_t axis = split->attributes.integer("axis", 0);
  if (axis != -1 && axis != n.out()->rank() - 1) return nullptr;
  for (const ir::Value* v : split->outputs)
    if (!v->dims().back().is_constant()) return nullptr;
  return split;
}

// Operands of the epilogue: constants by column, or the same for all columns.
enum class Operand { by_column, shared, other };
Operand kind_of(const ir::Value* v, ir::Dim columns) {
  if (v->rank() == 0 || v->dims().back() == ir::Dim(1)) return Operand::shared;
  const bool vector = v->is_constant() && v->dims().back() == columns && ir::product(v->dims()) == columns && bits(v->dtype()) >= 8;
  return vector ? Operand::by_column : Operand::other;
}

ir::Value* columns_of(ir::Graph& graph, ir::Value* v, std::int64_t first, std::int64_t count) {
  const auto number = [&](std::int64_t value) {
    Tensor t(DType::i64, {1});
    *t.mutable_data<std::int64_t>() = value;
    return graph.add_constant(std::move(t));
  };
  return ops::fold(graph, "Slice", {v, number(first), number(first + count), number(v->rank() - 1)}, {}, v->name + "_part");
}

ir::Node* part_of(ir::Graph& graph, ir::Node& all, std::int64_t first, std::int64_t count) {
  ir::Node part;
  part.def = all.def, part.attributes = all.attributes, part.name = all.name + "_part", part.numerics = all.numerics;
  part.inputs = all.inputs, part.body = all.body, part.anchor_inputs = all.anchor_inputs;
  part.inputs[1] = columns_of(graph, all.in(1), first, count);
  for (std::size_t i = all.body ? static_cast<std::size_t>(all.anchor_inputs) : all.inputs.size(); i < all.inputs.size(); ++i)
    if (kind_of(all.inputs[i], all.in(1)->dims()[1]) == Operand::by_column) part.inputs[i] = columns_of(graph, all.inputs[i], first, count);
  return graph.add(std::move(part), 1, &all);
}

// Of what the merged product stands for, that which leads to one of its results.
void divide_sources(const ir::Graph& graph, const ir::Sources& merged, const ir::Node& split, const std::vector<ir::Node*>& parts) {
  if (!graph.model_names) return;
  const ir::SourcesBehind behind(*graph.model_names, merged.all());
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const std::int32_t source : behind.of(*split.outputs[i])) {
      const bool own = std::binary_search(merged.own.begin(), merged.own.end(), source);
      (own ? parts[i]->sources.own : parts[i]->sources.behind).push_back(source);
    }
}

// Slices that only such nodes read need no step of their own.
bool read_in_place(const ir::Value* v) {
  return std::all_of(v->users.begin(), v->users.end(), [](const ir::Node* user) {
    if (is_view(*user) || user->def->traits.movement == ir::Movement::transpose) return read_in_place(user->out());
    return user->def->traits.strided;
  });
}

}  // namespace

bool unmerge_if_better(ir::Graph& graph, ir::Node& node, Candidates& candidates) {
  const ir::Node* split = split_after(graph, node);
  if (!split) return false;
  for (std::size_t i = node.body ? static_cast<std::size_t>(node.anchor_inputs) : node.inputs.size(); i < node.inputs.size(); ++i)
    if (kind_of(node.inputs[i], node.in(1)->dims()[1]) == Operand::other) return false;
  std::int64_t together = best(candidates.of(node)), apart = 0, first = 0;
  if (!std::all_of(split->outputs.begin(), split->outputs.end(), read_in_place)) together += best(candidates.of(*split));
  std::vector<ir::Node*> parts;
  for (const ir::Value* v : split->outputs) {
    const std::int64_t count = v->dims().back().constant();
    parts.push_back(part_of(graph, node, first, count));
    apart += best(candidates.of(*parts.back()));
    first += count;
  }
  const bool stays = !clearly_better(apart, together);
  if (!stays) divide_sources(graph, node.sources, *split, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (stays) graph.erase(*parts[i]);
    else graph.replace_uses(split->outputs[i], parts[i]->outputs[0]);
  }
  graph.sweep();   // the parts' weights, or the whole ones
  return !stays;
}

}  // namespace tenfold::tune
