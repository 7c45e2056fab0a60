// Deciding views, in two sweeps: backwards for producers that can write into their reader's memory, forwards for readers.
#include "builder/program/storage.h"

#include "base/check.h"
#include "tune/choice/node_problem.h"
#include "tune/choice/transposes.h"

namespace tenfold::builder {

using backends::Layout;
using ir::Dim;
using ir::Dims;
using ir::Node;
using ir::Value;

Storage::Storage(const ir::Graph& graph, const tune::Choice& choice, const ir::SymbolBounds& box, const backends::DeviceInfo& device)
    : choice_(choice), box_(box), device_(device), outputs_(graph.outputs.begin(), graph.outputs.end()) {
  const auto& nodes = graph.nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) write_into_parent(**it);
  for (const auto& n : nodes)
    if (!without_step_.count(n.get())) read_as_view(*n);
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) leave_out_unread(**it);
}

const View* Storage::view(const Value* v) const {
  auto it = views_.find(v);
  return it == views_.end() ? nullptr : &it->second;
}

// The layout a value's own step gives it; everything that has no tactic is plain.
Layout Storage::layout_of(const Value* v) const {
  if (!v->producer) return backends::kPlain;
  auto it = choice_.find(v->producer);
  if (it == choice_.end() || !it->second.tactic) return backends::kPlain;
  return it->second.formats.out[static_cast<std::size_t>(v->producer_index)];
}

View Storage::view_or_self(const Value* v) const {
  if (const View* known = view(v)) return *known;
  const Layout layout = layout_of(v);
  return {v, Dim(0), backends::strides(layout, v->dims()), layout == backends::kPlain, layout, layout};
}

namespace {
bool lies_misaligned(const Value* v, const View& view) {
  return !(view.offset * Dim(bits(v->dtype()))).divisible_by(8 * backends::kVectorBytes);
}
}  // namespace

backends::Problem stored_problem(const Node& node, const tune::NodeChoice& choice, const Storage& storage, const ir::SymbolBounds& box,
                                 const backends::DeviceInfo& device) {
  backends::Problem p = tune::node_problem(node, &choice.formats, box, device, std::int64_t{1} << 40);
  const auto place = [&](backends::OperandDesc& d, const Value* v) {
    const View* view = v ? storage.view(v) : nullptr;
    if (!view || d.layout != view->layout) return;
    d.misaligned = lies_misaligned(v, *view);
    if (view->dense) return;
    d.dense = false;
    d.strides = view->strides;
  };
  for (std::size_t i = 0; i < p.in.size(); ++i) place(p.in[i], node.inputs[i]);
  for (std::size_t o = 0; o < p.out.size(); ++o) place(p.out[o], node.outputs[o]);
  return p;
}

// Whether a value lies at an misaligned address if values lie as `proposed` says.
bool Storage::is_odd(const Value* v, const Proposal& proposed) const {
  const auto it = proposed.find(v);
  const View* known = it != proposed.end() ? &it->second : v ? view(v) : nullptr;
  return known && lies_misaligned(v, *known);
}
bool Storage::any_odd(const Node& node, const Proposal& proposed) const {
  const auto odd = [&](const Value* v) { return is_odd(v, proposed); };
  return std::any_of(node.inputs.begin(), node.inputs.end(), odd) || std::any_of(node.outputs.begin(), node.outputs.end(), odd);
}

// Would the node's tactic still run if values lay as `proposed` says, with all other operands as they lie now? Steps without a tactic
// read and write dense memory; of a node with graphs, the inner steps are not asked here what they make of misaligned addresses.
bool Storage::tactic_accepts(const Node& node, const Proposal& proposed) const {
  auto it = choice_.find(&node);
  if (it == choice_.end()) return false;
  const auto dense = [](const auto& one) { return one.second.dense; };
  if (!it->second.tactic) return std::all_of(proposed.begin(), proposed.end(), dense) && (node.graphs.empty() || !any_odd(node, proposed));
  const tune::NodeChoice& c = it->second;
  backends::Problem p = stored_problem(node, c, *this, box_, device_);
  const auto change = [&](backends::OperandDesc& d, const Value* operand) {
    d.misaligned = is_odd(operand, proposed);
    auto found = proposed.find(operand);
    if (found == proposed.end()) return true;
    const View& view = found->second;
    d.dense = view.dense;
    d.strides = view.dense ? Dims{} : view.strides;
    return d.layout == view.layout || (view.layout == backends::kPlain && backends::same_as_plain(d.layout, d.dims));
  };
  for (std::size_t i = 0; i < p.in.size(); ++i)
    if (!change(p.in[i], node.inputs[i])) return false;
  for (std::size_t o = 0; o < p.out.size(); ++o)
    if (!change(p.out[o], node.outputs[o])) return false;
  return c.tactic->supports(p).yes;
}

// A reader accepts a view if its tactic does, or if it is itself a movement whose readers accept what it makes of the view.
bool Storage::accepts(const Node& node, const Value* v, const View& view) const {
  if (without_step_.count(&node)) return false;
  if (node.in(0) == v && !node.body && view.layout == backends::kPlain) {
    const std::vector<View> derived = derive(node, view);
    bool all = derived.size() == node.outputs.size();
    for (std::size_t i = 0; all && i < derived.size(); ++i)
      all = !outputs_.count(node.outputs[i]) && ((derived[i].dense && !lies_misaligned(node.outputs[i], derived[i])) ||
                                               accepted_by_users(node.outputs[i], derived[i], nullptr));
    if (all) return true;
  }
  return tactic_accepts(node, {{v, view}});
}

bool Storage::accepted_by_users(const Value* v, const View& view, const Node* except) const {
  if (outputs_.count(v)) return false;
  for (const Node* user : v->users)
    if (user != except && !accepts(*user, v, view)) return false;
  return true;
}

namespace {
bool has_bytes(const Value* v) {
  return v && v->type.kind == ir::ValueType::Kind::tensor && v->dtype() != DType::string && bits(v->dtype()) >= 8;
}
bool movable(const Value* v) { return has_bytes(v) && !v->is_constant(); }
bool dense_strides(const Dims& strides, const Dims& dims, Layout layout = backends::kPlain) {
  const Dims dense = backends::strides(layout, dims);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != Dim(1) && strides[i] != dense[i]) return false;
  return true;
}
}  // namespace

// A transposed plain value may be the other side's channels-last order as it lies, if that is what was chosen there.
void Storage::name_layout(View& v, const Dims& dims, Layout chosen) const {
  v.dense = dense_strides(v.strides, dims);
  if (v.layout != backends::kPlain || chosen != backends::kChannelsLast || !dense_strides(v.strides, dims, chosen)) return;
  v.dense = true;
  v.layout = chosen;
}

void Storage::write_into_parent(const Node& node) {
  const ir::Movement moves = node.def->traits.movement;
  const bool concat = moves == ir::Movement::concat, transpose = moves == ir::Movement::transpose;
  if ((!concat && !transpose) || node.body || !movable(node.out())) return;
  if (concat && node.inputs.size() < 2) return;
  const Value* result = node.out();
  auto chosen = choice_.find(&node);
  const bool has_tactic = chosen != choice_.end() && chosen->second.tactic;
  const Layout layout = has_tactic ? chosen->second.formats.out[0] : backends::kPlain;
  const Layout read_as = transpose && has_tactic ? chosen->second.formats.in[0] : layout;
  if (layout != backends::kPlain && !(concat && layout == backends::kChannelsLast)) return;
  const View parent = view_or_self(result);
  Proposal planned;
  Dim offset = parent.offset;
  for (const Value* v : node.inputs) {
    const bool free =
        movable(v) && v->producer && !view(v) && !outputs_.count(v) && layout_of(v) == read_as && choice_.count(v->producer);
    if (!free || planned.count(v)) return;
    View slice{parent.root, offset, parent.strides, false, parent.layout, parent.root_layout};
    if (transpose) {
      const auto perm = tune::permutation(node);
      slice.strides.assign(perm.size(), Dim(0));
      for (std::size_t i = 0; i < perm.size(); ++i) slice.strides[static_cast<std::size_t>(perm[i])] = parent.strides[i];
    } else {
      const int rank = result->rank();
      const auto axis = static_cast<std::size_t>((node.attributes.integer("axis", 0) + rank) % rank);
      offset = offset + v->dims()[axis] * parent.strides[axis];
    }
    name_layout(slice, v->dims(), read_as);
    if (!slice.offset.is_constant()) return;   // addresses are fixed when the plan is built
    if (!accepted_by_users(v, slice, &node)) return;
    planned.emplace(v, std::move(slice));
  }
  // A producer is asked once, of all it writes here: asking a Split of each piece alone would take time by the square of their number.
  std::unordered_map<const Node*, Proposal> by_producer;
  for (const auto& [v, slice] : planned) by_producer[v->producer].emplace(v, slice);
  for (const auto& [producer, slices] : by_producer)
    if (!tactic_accepts(*producer, slices)) return;
  for (auto& [v, slice] : planned) views_[v] = std::move(slice);
  without_step_.insert(&node);
}

namespace {
bool derive_slice(const Node& node, const View& source, const ir::SymbolBounds& box, View& v) {
  const auto list = [&](int i) { return node.in(i) && node.in(i)->contents ? &*node.in(i)->contents : nullptr; };
  const Dims *starts = list(1), *axes = list(3), *steps = list(4);
  constexpr std::int64_t kMaxStep = std::int64_t{1} << 31;   // so that no stride overflows
  if (!starts || (node.in(3) && !axes) || (node.in(4) && !steps)) return false;
  for (std::size_t k = 0; k < starts->size(); ++k) {
    const Dim start = (*starts)[k], step = steps ? (*steps)[k] : Dim(1), axis_dim = axes ? (*axes)[k] : Dim(static_cast<std::int64_t>(k));
    if (!start.is_constant() || !step.is_constant() || !axis_dim.is_constant() || step.constant() < 1 ||
        step.constant() > kMaxStep)
      return false;
    const auto rank = static_cast<std::int64_t>(v.strides.size());
    const auto axis = static_cast<std::size_t>((axis_dim.constant() + rank) % rank);
    const Dim extent = node.in(0)->dims()[axis];
    const Dim first = start.constant() < 0 ? extent + start : start;
    if (first.bounds(box).lower < 0 || (extent - first).bounds(box).lower < 0) return false;   // might be clamped
    v.offset = v.offset + first * source.strides[axis];
    v.strides[axis] = source.strides[axis] * step;
  }
  return true;
}
}  // namespace

// What a movement makes of its operand's view: one view per result, or nothing if elements have to move.
std::vector<View> Storage::derive(const Node& node, const View& source) const {
  std::vector<View> views;
  const ir::Movement moves = node.def->traits.movement;
  const bool transpose = moves == ir::Movement::transpose;
  View v = source;
  if (tune::is_view(node)) {
    if (!reshape_view(node.in(0)->dims(), source.strides, node.out()->dims(), v.strides)) return {};
    views.push_back(std::move(v));
  } else if (transpose) {
    const auto perm = tune::permutation(node);
    for (std::size_t i = 0; i < perm.size(); ++i) v.strides[i] = source.strides[static_cast<std::size_t>(perm[i])];
    views.push_back(std::move(v));
  } else if (moves == ir::Movement::split) {
    const int rank = node.in(0)->rank();
    const auto axis = static_cast<std::size_t>((node.attributes.integer("axis", 0) + rank) % rank);
    for (const Value* out : node.outputs) {
      views.push_back(v);
      v.offset = v.offset + out->dims()[axis] * source.strides[axis];
    }
  } else if (moves == ir::Movement::slice) {
    if (!derive_slice(node, source, box_, v)) return {};
    views.push_back(std::move(v));
  }
  for (const View& made : views)
    if (!made.offset.is_constant()) return {};   // addresses are fixed when the plan is built
  for (std::size_t i = 0; i < views.size(); ++i)
    name_layout(views[i], node.outputs[i]->dims(), transpose ? layout_of(node.outputs[i]) : backends::kPlain);
  return views;
}

void Storage::read_as_view(const Node& node) {
  const Value* x = node.in(0);
  if (node.body || !has_bytes(x) || tune::sizes_depend_on_data(node)) return;
  // Of a constant whatever does not depend on the run is folded: what is left is its part up to a length that the run has.
  if (x->is_constant() && node.def->traits.movement != ir::Movement::slice) return;
  for (const Value* v : node.outputs)
    if (!movable(v) || view(v)) return;
  // Movements are of plain memory; a value in another layout is first brought to plain order by the step this node then needs.
  View source = view_or_self(x);
  if (source.layout != backends::kPlain) {
    if (view(x) || !backends::same_as_plain(source.layout, x->dims())) return;
    source = {x, Dim(0), backends::strides(backends::kPlain, x->dims()), true};  // blocks have no stride for channels
  }
  std::vector<View> views = derive(node, source);
  if (views.empty() || views.size() != node.outputs.size()) return;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Value* v = node.outputs[i];
    if (outputs_.count(v)) {   // only when the root can live in the output's memory
      const Value* root = views[i].root;
      if (!tune::is_view(node) || !views[i].dense || !root->producer || outputs_.count(root) || view(root) || output_roots_.count(root) ||
          layout_of(root) != backends::kPlain || views[i].offset != Dim(0) || ir::product(root->dims()) != ir::product(v->dims()))
        return;
      output_roots_[root] = v;
    } else if ((!views[i].dense || lies_misaligned(v, views[i])) && !accepted_by_users(v, views[i], nullptr)) {
      return;
    }
  }
  for (std::size_t i = 0; i < views.size(); ++i) views_[node.outputs[i]] = std::move(views[i]);
  without_step_.insert(&node);
}

// Whose results are only starts, ends or shapes of movements that became views: the plan's dims have those numbers.
void Storage::leave_out_unread(const Node& node) {
  if (!node.graphs.empty() || tune::sizes_depend_on_data(node) || tune::touches_objects(node)) return;
  const auto reads = [&](const Node* user, const Value* v) {
    if (unread_.count(user)) return false;
    return !without_step_.count(user) || user->in(0) == v || user->def->traits.movement == ir::Movement::concat;
  };
  bool used = false;   // what nobody uses at all is for passes to remove
  for (const Value* v : node.outputs) {
    used |= !v->users.empty();
    if (outputs_.count(v) || std::any_of(v->users.begin(), v->users.end(), [&](const Node* user) { return reads(user, v); })) return;
  }
  if (!used) return;
  without_step_.insert(&node);
  unread_.insert(&node);
}

}  // namespace tenfold::builder
