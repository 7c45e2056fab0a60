// Graph: adding, rewiring and removing nodes while keeping users, types and names right.
#include "ir/graph.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "ir/check_types.h"
#include "ir/effects.h"
#include "ir/fault.h"
#include "ir/op_def.h"
#include "ir/signature.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::ir {
namespace {

std::optional<Dims> contents_of(const Tensor& t) {
  if (!is_integer(t.dtype()) && t.dtype() != DType::boolean) return std::nullopt;
  if (t.size() > kMaxContents) return std::nullopt;
  Dims values;
  for (std::int64_t i = 0; i < t.size(); ++i) values.emplace_back(t.as_int(i));
  return values;
}

void remove_one(std::vector<Node*>& users, Node* node) {
  auto it = std::find(users.begin(), users.end(), node);
  check(it != users.end(), "a use is not recorded");
  users.erase(it);
}

}  // namespace

Graph::Graph(const Registry& registry) : registry_(&registry) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

const std::string& Node::op() const { return def->name; }

SymbolBounds Graph::box() const {
  SymbolBounds box;
  for (const Symbol& s : symbols) box[s.name] = {s.lower.bounds(box).lower, s.upper.bounds(box).upper};
  return box;
}

Value* Graph::new_value(std::string name) {
  values_.push_back(std::make_unique<Value>());
  values_.back()->name = std::move(name);
  values_.back()->id = ++last_value_;
  return values_.back().get();
}

std::string Graph::unique_name(std::string_view stem) {
  const std::string base(stem.empty() ? "v" : stem);
  auto [it, fresh] = name_counts_.try_emplace(base, 0);
  if (fresh) return base;
  for (;;) {
    const std::string candidate = base + "_" + std::to_string(++it->second);
    if (name_counts_.try_emplace(candidate, 0).second) return candidate;
  }
}

Value* Graph::add_input(std::string name, ValueType type) {
  Value* value = new_value(unique_name(name));
  value->type = std::move(type);
  inputs.push_back(value);
  return value;
}

Value* Graph::add_constant(Tensor tensor, std::string name, bool is_weight) {
  auto constant = std::make_shared<Constant>();
  if (is_weight) constant->weight_name = name;
  constant->tensor = std::move(tensor);
  return add_constant(std::move(constant), std::move(name));
}

Value* Graph::add_constant(std::shared_ptr<const Constant> constant, std::string name) {
  Value* value = new_value(unique_name(name.empty() ? "constant" : name));
  value->type.tensor = {constant->tensor.dtype(), to_dims(constant->tensor.shape())};
  value->contents = contents_of(constant->tensor);
  value->constant = std::move(constant);
  return value;
}

Node* Graph::add(std::string_view op, std::vector<Value*> operands, Attributes attributes, int outputs, std::string name, Node* before) {
  Node node;
  node.def = &registry_->get(op);
  node.name = std::move(name);
  node.inputs = std::move(operands);
  node.attributes = std::move(attributes);
  return add(std::move(node), outputs, before);
}

Node* Graph::add_like(const Node& like, std::vector<Value*> operands, Node* before) {
  Node node;
  node.def = like.def, node.name = like.name, node.attributes = like.attributes, node.numerics = like.numerics;
  node.sources = like.sources;
  node.inputs = std::move(operands);
  return add(std::move(node), static_cast<int>(like.outputs.size()), before);
}

Value* Graph::make(std::string_view op, std::vector<Value*> operands, Attributes attributes, Node* before) {
  return add(op, std::move(operands), std::move(attributes), 1, "", before)->outputs[0];
}

Node* Graph::add(Node node, int outputs, Node* before) {
  const OpDef& def = *node.def;
  const int own = node.anchor_inputs >= 0 ? node.anchor_inputs : static_cast<int>(node.inputs.size());
  validate(own >= def.min_inputs && (def.max_inputs < 0 || own <= def.max_inputs), def.name, " takes ", def.min_inputs,
        def.max_inputs < 0                 ? " or more"
        : def.max_inputs == def.min_inputs ? ""
                                           : cat(" to ", def.max_inputs),
        " operands, ", own, " given");
  validate(outputs >= def.min_outputs && (def.max_outputs < 0 || outputs <= def.max_outputs), def.name, " cannot have ", outputs,
           " outputs");
  for (const auto& [key, value] : def.attributes)
    if (!node.attributes.has(key)) node.attributes.set(key, value);
  node.name = unique_name(node.name.empty() ? def.name : node.name);
  auto stored = std::make_unique<Node>(std::move(node));
  Node* n = stored.get();
  n->outputs.clear();
  n->id = ++last_node_, n->made_before = before ? before->id : 0;
  for (int i = 0; i < outputs; ++i) {
    Value* v = new_value(unique_name(i == 0 ? n->name + "_out" : n->name + "_out" + std::to_string(i)));
    v->producer = n;
    v->producer_index = i;
    n->outputs.push_back(v);
  }
  auto where = before ? before->self : nodes_.end();
  n->self = nodes_.insert(where, std::move(stored));
  for (Value* v : n->inputs)
    if (v) v->users.push_back(n);
  try {
    infer(*n);
  } catch (...) {
    erase(*n);
    throw;
  }
  return n;
}

namespace {
// An epilogue broadcasts its operands to the anchor's result and may change the type. Plans and their texts hold bodies, too, so
// nothing about them is taken for granted.
void infer_epilogue(Node& node) {
  const Body& body = *node.body;
  TensorType& type = node.outputs.at(0)->type.tensor;
  const auto own = static_cast<std::size_t>(node.anchor_inputs);
  validate(
      node.anchor_inputs >= 0 && own <= node.inputs.size() && body.inputs.size() == node.inputs.size() - own + 1 && !body.outputs.empty(),
      "its epilogue has ", body.inputs.size(), " inputs, of ", node.inputs.size(), " operands ", node.anchor_inputs, " are its own");
  validate(body.inputs[0] == type.dtype, "its epilogue takes ", name(body.inputs[0]), ", it gives ", name(type.dtype));
  for (std::size_t i = own; i < node.inputs.size(); ++i) {
    validate(node.inputs[i] && node.inputs[i]->dtype() == body.inputs[i - own + 1], "operand ", i, " is ",
          node.inputs[i] ? name(node.inputs[i]->dtype()) : "missing", ", its epilogue takes ", name(body.inputs[i - own + 1]));
    type.dims = broadcast(type.dims, node.inputs[i]->dims());
  }
  type.dtype = body.type_of(body.outputs[0]);
  node.outputs[0]->contents.reset();
}
}  // namespace

void Graph::infer(Node& node) {
  throw_if_cancelled();
  for (Value* v : node.outputs) v->contents.reset();
  if (!node.def->infer) fail(ErrorKind::internal, cat(node.op(), " has no shape inference"));
  check_attributes(*node.def, node.attributes);
  check_present(node);
  if (node.def->types.declared()) node.def->types.check_operands(node);
  InferCall call(*this, node);
  node.def->infer(call);
  if (node.def->types.declared()) node.def->types.check_results(node);
  if (node.body && !node.def->traits.region) infer_epilogue(node);
}

void Graph::set_input(Node& node, int index, Value* value) {
  Value*& slot = node.inputs.at(static_cast<std::size_t>(index));
  if (slot) remove_one(slot->users, &node);
  slot = value;
  if (value) value->users.push_back(&node);
}

void Graph::replace_uses(Value* old_value, Value* new_value) {
  if (old_value == new_value) return;
  check_same_type(*old_value, new_value->type);   // whose shapes are wrong gives wrong answers, so in every build
  if (model_names) {
    join(new_value->names, old_value->names);
    note_replaced(*old_value, *new_value);
  }
  // What was made to take the old value's place is known by its name from now on.
  const bool takes_place =
      new_value->producer && new_value->users.empty() && !is_output(new_value) && !is_output(old_value) && old_value->producer;
  if (takes_place) std::swap(old_value->name, new_value->name);
  const std::vector<Node*> users = old_value->users;
  for (Node* user : users)
    for (std::size_t i = 0; i < user->inputs.size(); ++i)
      if (user->inputs[i] == old_value) set_input(*user, static_cast<int>(i), new_value);
  for (Value*& output : outputs) {
    if (output != old_value) continue;
    const bool taken = is_output(new_value) || std::find(inputs.begin(), inputs.end(), new_value) != inputs.end();
    output = new_value;
    // A graph output keeps its name; when the new value already has a name that others know, an Identity carries it.
    if (!taken && !new_value->is_constant()) {
      std::swap(old_value->name, new_value->name);
    } else {
      Value* copy = make("Identity", {new_value});
      output = copy;
      std::swap(copy->name, old_value->name);
      copy->names = old_value->names;
    }
  }
}

void Graph::note_replaced(const Value& old_value, const Value& new_value) {
  if (model_names) journal_.replaced.emplace_back(old_value.id, new_value.id);
}

void Graph::clear_journal() {
  journal_ = {};
  journal_.nodes = last_node_, journal_.values = last_value_;
}

namespace {
void add_all_sources(const Graph& graph, NameList& list) {
  for (const auto& n : graph.nodes()) {
    join(list, n->sources.all());
    for (const auto& body : n->graphs) add_all_sources(*body, list);
  }
}
}  // namespace

void Graph::bury(Node& node) {
  Journal::Dead dead{node.id, node.made_before, node.def, std::move(node.sources), {}, {}};
  for (const auto& body : node.graphs) {
    add_all_sources(*body, dead.sources.own);
    removed.insert(removed.end(), body->removed.begin(), body->removed.end());
  }
  for (const Value* v : node.inputs)
    if (v) dead.in.push_back(v->id);
  for (const Value* v : node.outputs) dead.out.push_back(v->id);
  journal_.dead.push_back(std::move(dead));
}

void Graph::erase(Node& node) {
  for (Value* v : node.outputs) {
    check(v->users.empty(), "erasing node '", node.name, "' whose result '", v->name, "' is used");
    v->producer = nullptr;
  }
  for (Value* v : node.inputs)
    if (v) remove_one(v->users, &node);
  if (model_names) bury(node);
  nodes_.erase(node.self);
}

void Graph::sweep() {
  std::unordered_set<const Value*> kept(outputs.begin(), outputs.end());
  for (auto it = nodes_.end(); it != nodes_.begin();) {
    Node& node = **--it;
    const bool used = std::any_of(node.outputs.begin(), node.outputs.end(), [&](Value* v) { return !v->users.empty() || kept.count(v); });
    if (used || judges(node)) continue;
    auto next = std::next(it);
    erase(node);
    it = next;
  }
  kept.insert(inputs.begin(), inputs.end());
  values_.remove_if([&](const std::unique_ptr<Value>& v) { return !v->producer && v->users.empty() && !kept.count(v.get()); });
}

void Graph::sort() {
  std::unordered_map<const Node*, int> state;   // 1: on the path, 2: placed
  std::vector<Node*> order;
  for (const auto& root : nodes_) {
    std::vector<std::pair<Node*, std::size_t>> path{{root.get(), 0}};
    if (state[root.get()] == 2) continue;
    state[root.get()] = 1;
    while (!path.empty()) {
      Node* node = path.back().first;
      if (path.back().second == node->inputs.size()) {
        state[node] = 2;
        order.push_back(node);
        path.pop_back();
        continue;
      }
      Value* v = node->inputs[path.back().second++];
      Node* producer = v ? v->producer : nullptr;
      if (!producer || state[producer] == 2) continue;
      require(state[producer] != 1, ErrorKind::invalid_model, "node '", producer->name, "' depends on itself");
      state[producer] = 1;
      path.emplace_back(producer, 0);
    }
  }
  for (Node* node : order) nodes_.splice(nodes_.end(), nodes_, node->self);
}

bool Graph::is_output(const Value* value) const { return std::find(outputs.begin(), outputs.end(), value) != outputs.end(); }

std::vector<Node*> Graph::node_list() const {
  std::vector<Node*> out;
  for (const auto& n : nodes_) out.push_back(n.get());
  return out;
}

Dim Graph::new_symbol(std::string_view stem, Dim lower, Dim upper, Origin origin) {
  std::string clean;
  for (char c : stem) clean += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (clean.empty() || std::isdigit(static_cast<unsigned char>(clean[0]))) clean.insert(0, "d_");
  for (Symbol& s : symbols)
    if (s.name == clean) {
      s.lower = lower, s.upper = upper, s.origin = origin;
      return Dim::symbol(clean);
    }
  symbols.push_back({clean, lower, upper, origin});
  return Dim::symbol(clean);
}

Graph Graph::clone() const {
  Graph copy(*registry_);
  copy.name = name;
  copy.symbols = symbols;
  copy.name_counts_ = name_counts_;
  copy.model_names = model_names, copy.removed = removed, copy.journal_ = journal_;
  copy.last_node_ = last_node_, copy.last_value_ = last_value_;
  std::unordered_map<const Value*, Value*> values;
  std::unordered_map<const Node*, Node*> nodes;
  for (const auto& v : values_) {
    copy.values_.push_back(std::make_unique<Value>(*v));
    values[v.get()] = copy.values_.back().get();
  }
  const auto mapped = [&](Value* v) { return v ? values.at(v) : nullptr; };
  for (const auto& n : nodes_) {
    auto node = std::make_unique<Node>();
    node->def = n->def, node->name = n->name, node->attributes = n->attributes, node->body = n->body;
    node->anchor_inputs = n->anchor_inputs, node->numerics = n->numerics;
    node->sources = n->sources, node->id = n->id, node->made_before = n->made_before;
    for (Value* v : n->inputs) node->inputs.push_back(mapped(v));
    for (Value* v : n->outputs) node->outputs.push_back(mapped(v));
    for (const auto& g : n->graphs) node->graphs.push_back(std::make_unique<Graph>(g->clone()));
    nodes[n.get()] = node.get();
    copy.nodes_.push_back(std::move(node));
    copy.nodes_.back()->self = std::prev(copy.nodes_.end());
  }
  for (const auto& v : copy.values_) {
    if (v->producer) v->producer = nodes.at(v->producer);
    for (Node*& user : v->users) user = nodes.at(user);
  }
  for (Value* v : inputs) copy.inputs.push_back(mapped(v));
  for (Value* v : outputs) copy.outputs.push_back(mapped(v));
  return copy;
}

}  // namespace tenfold::ir
