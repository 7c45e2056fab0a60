#include "passes/dim_parts.h"

#include <algorithm>

#include "passes/movement.h"

namespace tenfold::passes {

using ir::Dim;
using ir::Dims;

DimParts::DimParts(const Dims& source) {
  for (std::size_t d = 0; d < source.size(); ++d) {
    groups_.emplace_back();
    if (source[d] == Dim(1)) continue;
    groups_.back().push_back(parts_.size());
    parts_.push_back({source[d], d});
  }
}

bool DimParts::follow(const ir::Node& n) {
  if (is_reshape(n)) return regroup(n.out()->dims());
  if (n.op() != "Transpose" || n.body) return false;
  std::vector<Group> moved;
  for (const std::int64_t axis : perm_of(n)) moved.push_back(groups_[static_cast<std::size_t>(axis)]);
  groups_ = std::move(moved);
  return true;
}

void DimParts::split(std::size_t part, std::int64_t outer, std::int64_t inner) {
  for (Group& group : groups_)
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i] > part) ++group[i];
      else if (group[i] == part) group.insert(group.begin() + static_cast<std::ptrdiff_t>(++i), part + 1);
    }
  parts_[part].size = Dim(outer);
  parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(part) + 1, {Dim(inner), parts_[part].dim});
}

// In the order in which they stand, parts fill one dim after the other; a part that a dim ends in becomes two.
bool DimParts::regroup(const Dims& to) {
  groups_ = {[&] {
    Group all;
    for (const Group& group : groups_) all.insert(all.end(), group.begin(), group.end());
    return all;
  }()};
  std::vector<std::size_t> ends;
  std::size_t next = 0;
  for (const Dim& requested : to) {
    Dim have(1);
    while (have != requested) {
      if (next == groups_[0].size()) return false;
      const std::size_t part = groups_[0][next];
      const Dim size = parts_[part].size;
      if (requested.is_constant() && have.is_constant() && size.is_constant() && have.constant() * size.constant() > requested.constant()) {
        const std::int64_t outer = requested.constant() / have.constant();
        if (outer < 2 || requested.constant() % have.constant() != 0 || size.constant() % outer != 0) return false;
        split(part, outer, size.constant() / outer);
      }
      have = have * parts_[part].size;
      ++next;
    }
    ends.push_back(next);
  }
  if (next != groups_[0].size()) return false;
  const Group all = std::move(groups_[0]);
  groups_.clear();
  auto begin = all.begin();
  for (const std::size_t end : ends) {
    groups_.emplace_back(begin, all.begin() + static_cast<std::ptrdiff_t>(end));
    begin = all.begin() + static_cast<std::ptrdiff_t>(end);
  }
  return true;
}

bool DimParts::moves() const {
  std::size_t last = 0;
  for (const Group& group : groups_)
    for (const std::size_t part : group) {
      if (part < last) return true;
      last = part;
    }
  return false;
}

std::optional<DimParts::Outermost> DimParts::outermost(std::size_t axis) const {
  if (groups_[axis].size() != 1) return std::nullopt;
  const std::size_t part = groups_[axis][0];
  Outermost found{.dim = parts_[part].dim};
  if (part > 0 && parts_[part - 1].dim == found.dim) return std::nullopt;
  for (std::size_t i = part + 1; i < parts_.size() && parts_[i].dim == found.dim; ++i) {
    if (!parts_[i].size.is_constant()) return std::nullopt;
    found.step *= parts_[i].size.constant();
  }
  return found;
}

void DimParts::resize(std::size_t axis, std::int64_t extent) {
  const std::size_t part = groups_[axis][0];
  parts_[part].size = Dim(extent);
  if (extent != 1) return;
  groups_[axis].clear();
  parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(part));
  for (Group& group : groups_)
    for (std::size_t& other : group) other -= other > part ? 1 : 0;
}

ir::Value* DimParts::apply(ir::Graph& graph, ir::Value* source, const Dims& dims, ir::Node* before) const {
  // Parts of one dim of the source that also stay together in a dim of the result move as one.
  std::vector<std::size_t> row(parts_.size(), 0);   // of each part: the dim between the reshapes
  std::vector<bool> joined(parts_.size(), false);   // with the part before it
  for (const Group& group : groups_)
    for (std::size_t i = 1; i < group.size(); ++i)
      joined[group[i]] = group[i] == group[i - 1] + 1 && parts_[group[i]].dim == parts_[group[i - 1]].dim;
  Dims between;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    if (joined[part]) between.back() = between.back() * parts_[part].size;
    else between.push_back(parts_[part].size);
    row[part] = between.size() - 1;
  }
  ir::Ints perm;
  for (const Group& group : groups_)
    for (const std::size_t part : group)
      if (!joined[part]) perm.push_back(static_cast<std::int64_t>(row[part]));
  if (is_identity(perm)) return reshape_to(graph, source, dims, before);
  ir::Value* split = reshape_to(graph, source, between, before);
  return split ? reshape_to(graph, transpose_by(graph, split, perm, before), dims, before) : nullptr;
}

}  // namespace tenfold::passes
