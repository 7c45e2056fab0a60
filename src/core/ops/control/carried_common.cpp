// Widening the types of carried values.
#include "ops/control/carried_common.h"

#include <algorithm>
#include <map>

namespace tenfold::ops {

using namespace ir;

namespace {

// What of a carried value's type changes from one iteration to the next, as far as it is known.
struct Varies {
  bool rank = false;
  std::vector<bool> dims;
};
using AllVary = std::vector<Varies>;   // of all carried values

// What tries have found out about the loop at hand. A loop in a loop is inferred once for each try of the outer one: it goes on with what
// it knows, for if each started anew, the time would double with each level. `name` tells the loops of one body apart.
class Known {
 public:
  Known(const std::string& name, std::size_t carried) : outer_(path_.size()) {
    path_ += '/' + name;
    vary_ = &all_[path_];
    vary_->resize(carried);
  }
  ~Known() {
    path_.resize(outer_);
    if (outer_ == 0) all_.clear();   // the next inference is of another model or of other shapes
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;
  Varies& operator[](std::size_t i) { return (*vary_)[i]; }

 private:
  static thread_local std::string path_;   // names of the loops that are being inferred, outermost first
  static thread_local std::map<std::string, AllVary> all_;
  std::size_t outer_;
  AllVary* vary_;
};
thread_local std::string Known::path_;
thread_local std::map<std::string, AllVary> Known::all_;

Dim any_extent(Graph& graph, const std::string& node, std::size_t index, std::size_t d) {
  return graph.new_symbol(cat(node, "_carried", index, "_", d), 0, kUnbounded, Origin::host_value);
}

// The type of a carried value as it enters the loop, but for what is known to vary.
void start(Graph& graph, const std::string& node, std::size_t index, ValueType& type, const Varies& varies) {
  if (!type.ranked) return;
  if (varies.rank) {
    type.ranked = false;
    type.tensor.dims.clear();
  }
  for (std::size_t d = 0; d < std::min(type.tensor.dims.size(), varies.dims.size()); ++d)
    if (varies.dims[d]) type.tensor.dims[d] = any_extent(graph, node, index, d);
}

// Makes `type` cover what one more iteration gives: a dim that changes becomes a symbol that stands for any extent. True if it
// had to change.
bool widen(Graph& graph, const std::string& node, std::size_t index, ValueType& type, ValueType next, Varies& varies) {
  // What enters as an optional may leave as what that holds: such a value is an optional that holds it.
  if (type.kind == ValueType::Kind::optional && next.kind != ValueType::Kind::optional) next = optional_of(next);
  validate(type.without_dims() == next.without_dims(), "carried value ", index, " enters as ", text(type), " and leaves as ", text(next));
  if (type.unfilled && !next.unfilled) {   // what is put into it in the loop says what it holds
    type = next;
    return true;
  }
  if (!type.ranked || next.unfilled) return false;
  if (!next.ranked || type.tensor.dims.size() != next.tensor.dims.size()) {
    type.ranked = false;
    type.tensor.dims.clear();
    return varies.rank = true;
  }
  bool changed = false;
  varies.dims.resize(type.tensor.dims.size());
  for (std::size_t d = 0; d < type.tensor.dims.size(); ++d) {
    if (varies.dims[d] || type.tensor.dims[d] == next.tensor.dims[d]) continue;
    type.tensor.dims[d] = any_extent(graph, node, index, d);
    varies.dims[d] = changed = true;
  }
  return changed;
}

}  // namespace

std::vector<ValueType> types_that_hold(Graph& graph, const std::string& node, std::vector<ValueType> entering, const OneIteration& once) {
  const std::size_t carried = entering.size();
  Known known(node, carried);
  for (std::size_t i = 0; i < carried; ++i) start(graph, node, i, entering[i], known[i]);
  for (;;) {
    const std::vector<ValueType> next = once(entering);
    bool changed = false;
    for (std::size_t i = 0; i < carried; ++i) changed |= widen(graph, node, i, entering[i], next[i], known[i]);
    if (!changed) return entering;
  }
}

std::vector<ValueType> types_of(const std::vector<Value*>& values, std::size_t first, std::size_t count) {
  std::vector<ValueType> types;
  for (std::size_t i = 0; i < count; ++i) types.push_back(values[first + i]->type);
  return types;
}

}  // namespace tenfold::ops
