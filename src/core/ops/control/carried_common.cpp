// Widening the types of carried values.
#include "ops/control/carried_common.h"

#include <algorithm>
#include <map>

namespace tenfold::ops {

using namespace ir;

namespace {

// What of a carried value's type changes from one iteration to the next, as far as it is known. Dims that change are in groups: those of
// one group enter the loop equal and leave each iteration equal, so that a cache's keys and values have one symbol and not two.
struct Varies {
  bool rank = false;
  std::vector<int> groups;   // by dim; 0: it does not change
};
struct AllVary {   // of all carried values
  std::vector<Varies> values;
  int groups = 0;            // made so far

  // Gives members of a group that `types` tells apart groups of their own. True if there were any.
  bool split(const std::vector<ValueType>& types) {
    std::map<std::pair<int, std::string>, int> parts;
    std::map<int, int> taken;   // the first part of a group stays what it is
    bool changed = false;
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t d = 0; d < values[i].groups.size() && d < types[i].tensor.dims.size(); ++d) {
        int& group = values[i].groups[d];
        if (group == 0) continue;
        const auto [part, fresh] = parts.try_emplace({group, types[i].tensor.dims[d].text()}, group);
        if (fresh && taken[group]++ > 0) part->second = ++groups;
        changed = changed || part->second != group;
        group = part->second;
      }
    return changed;
  }
};

// What tries have found out about the loop at hand. A loop in a loop is inferred once for each try of the outer one: it goes on with what
// it knows, for if each started anew, the time would double with each level. `name` tells the loops of one body apart.
class Known {
 public:
  Known(const std::string& name, std::size_t carried) : outer_(path_.size()) {
    path_ += '/' + name;
    vary_ = &all_[path_];
    vary_->values.resize(carried);
  }
  ~Known() {
    path_.resize(outer_);
    if (outer_ == 0) all_.clear();   // the next inference is of another model or of other shapes
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;
  AllVary& operator*() { return *vary_; }

 private:
  static thread_local std::string path_;   // names of the loops that are being inferred, outermost first
  static thread_local std::map<std::string, AllVary> all_;
  std::size_t outer_;
  AllVary* vary_;
};
thread_local std::string Known::path_;
thread_local std::map<std::string, AllVary> Known::all_;

// The symbols of groups, which stand for any extent.
class Symbols {
 public:
  Symbols(Graph& graph, const std::string& node) : graph_(graph), node_(node) {}
  void put(std::vector<ValueType>& types, const AllVary& vary) {
    for (std::size_t i = 0; i < types.size(); ++i)
      for (std::size_t d = 0; d < vary.values[i].groups.size() && d < types[i].tensor.dims.size(); ++d)
        if (const int group = vary.values[i].groups[d]; group != 0) types[i].tensor.dims[d] = of(group, i, d);
  }

 private:
  Dim of(int group, std::size_t i, std::size_t d) {
    const auto found = known_.find(group);
    if (found != known_.end()) return found->second;
    const std::string name = cat(node_, "_carried", i, "_", d);
    return known_.emplace(group, graph_.new_symbol(name, 0, kUnbounded, Origin::host_value)).first->second;
  }
  Graph& graph_;
  const std::string& node_;
  std::map<int, Dim> known_;
};

void forget_dims(ValueType& type, Varies& varies) {
  type.ranked = false;
  type.tensor.dims.clear(), varies.groups.clear();
  varies.rank = true;
}

// Makes `type` cover what one more iteration gives, but for dims that change: they become members of `group`. True if there was something.
bool widen(std::size_t index, ValueType& type, ValueType next, Varies& varies, int group) {
  // What enters as an optional may leave as what that holds: such a value is an optional that holds it.
  if (type.kind == ValueType::Kind::optional && next.kind != ValueType::Kind::optional) next = optional_of(next);
  validate(type.without_dims() == next.without_dims(), "carried value ", index, " enters as ", text(type), " and leaves as ", text(next));
  if (type.unfilled && !next.unfilled) {   // what is put into it in the loop says what it holds
    type = next;
    return true;
  }
  if (!type.ranked || next.unfilled) return false;
  if (!next.ranked || type.tensor.dims.size() != next.tensor.dims.size()) return forget_dims(type, varies), true;
  bool changed = false;
  varies.groups.resize(type.tensor.dims.size());
  for (std::size_t d = 0; d < type.tensor.dims.size(); ++d) {
    if (varies.groups[d] != 0 || type.tensor.dims[d] == next.tensor.dims[d]) continue;
    varies.groups[d] = group;
    changed = true;
  }
  return changed;
}

}  // namespace

std::vector<ValueType> types_that_hold(Graph& graph, const std::string& node, std::vector<ValueType> entering, const OneIteration& once) {
  const std::vector<ValueType> first = entering;
  Known known(node, first.size());
  AllVary& vary = *known;
  Symbols symbols(graph, node);
  for (std::size_t i = 0; i < first.size(); ++i)
    if (vary.values[i].rank && entering[i].ranked) forget_dims(entering[i], vary.values[i]);
  vary.split(first);   // another try of the loop around this one may enter with other dims
  for (;;) {
    symbols.put(entering, vary);
    const std::vector<ValueType> next = once(entering);
    const int fresh = ++vary.groups;
    bool changed = false;
    for (std::size_t i = 0; i < first.size(); ++i) changed |= widen(i, entering[i], next[i], vary.values[i], fresh);
    changed |= vary.split(first);
    changed |= vary.split(next);
    if (!changed) return entering;
  }
}

std::vector<ValueType> types_of(const std::vector<Value*>& values, std::size_t first, std::size_t count) {
  std::vector<ValueType> types;
  for (std::size_t i = 0; i < count; ++i) types.push_back(values[first + i]->type);
  return types;
}

}  // namespace tenfold::ops
