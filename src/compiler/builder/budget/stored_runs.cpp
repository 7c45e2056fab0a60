#include "builder/budget/stored_runs.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "builder/precision/observed_runs.h"
#include "passes/pipeline.h"

namespace tenfold::builder {
namespace {

using Names = std::vector<std::string>;

// The part of a graph that computes `wanted` of what is `given`.
ir::Graph piece_of(const ir::Graph& whole, const std::set<std::string, std::less<>>& given, const Names& requested) {
  ir::Graph piece = whole.clone();
  std::map<std::string, ir::Value*> by_name;
  for (const auto& v : piece.values()) by_name[v->name] = v.get();
  piece.outputs.clear();
  for (const std::string& name : requested) piece.outputs.push_back(by_name.at(name));
  for (const std::string& name : given) {
    ir::Value* made = by_name.at(name);
    if (!made->producer) continue;
    ir::Value* input = piece.add_input(piece.unique_name("given"), made->type);
    made->name = piece.unique_name("made");   // the name goes to what stands for it
    piece.replace_uses(made, input);
    input->name = name;
  }
  piece.sweep();
  std::erase_if(piece.inputs, [&](const ir::Value* v) { return v->users.empty() && !piece.is_output(v); });
  piece.sort();
  return piece;
}

bool has_known_size(const ir::Value& v) { return v.type.holds_numbers() && v.type.ranked && ir::is_constant(v.dims()); }

// A piece as it runs.
struct Runs {
  Names inputs, outputs;
  ObservedRuns runs;

  Runs(ir::Graph piece, const std::vector<plan::Range>& ranges, const BuildConfig& config)
      : inputs(names(piece.inputs)), outputs(names(piece.outputs)), runs(fused(std::move(piece)), ranges, config) {}
  static Names names(const std::vector<ir::Value*>& values) {
    Names list;
    for (const ir::Value* v : values) list.push_back(v->name);
    return list;
  }
  static ir::Graph fused(ir::Graph piece) {
    passes::run(piece, {passes::find_pass("fold_constants"), passes::find_pass("fuse_regions")});
    return piece;
  }
};

}  // namespace

struct StoredRuns::Other::Impl {
  std::unique_ptr<Runs> runs;
};
StoredRuns::Other::~Other() = default;

struct StoredRuns::Impl {
  ir::Graph graph;
  std::vector<plan::Range> ranges;
  const BuildConfig& config;
  Names nodes;
  std::vector<std::set<std::string, std::less<>>> given;   // by piece: what was made before it, and is read in it or later
  std::vector<Names> made;                                 // by piece: what is read later, or is an output
  std::vector<std::unique_ptr<Runs>> pieces;               // null: nothing of it is read
  InputSet values;                                         // of the sample, the inputs among them
  bool can_keep = true;
  std::int64_t bytes = 0;

  // Which piece a node belongs to: it ends with node `nodes[i]`; one more follows the last of them.
  std::map<const ir::Node*, std::size_t> number_pieces() const {
    std::map<const ir::Node*, std::size_t> numbers;
    std::size_t piece = 0;
    for (const auto& node : graph.nodes()) {
      numbers[node.get()] = piece;
      if (piece < nodes.size() && node->name == nodes[piece]) ++piece;
    }
    check(piece == nodes.size(), "a graph is not in the order of its cuts: '", piece < nodes.size() ? nodes[piece] : "",
          "' is not where it was");
    return numbers;
  }
  void cut() {
    const auto numbers = number_pieces();
    given.resize(nodes.size() + 1), made.resize(nodes.size() + 1);
    for (const auto& v : graph.values()) {
      if (v->is_constant()) continue;
      const bool is_input = !v->producer;
      const std::size_t from = is_input ? 0 : numbers.at(v->producer);
      std::size_t last = from;
      bool crosses = is_input || graph.is_output(v.get());
      for (const ir::Node* user : v->users) last = std::max(last, numbers.at(user));
      crosses |= last > from;
      if (!crosses) continue;
      if (!is_input) made[from].push_back(v->name);
      for (std::size_t piece = is_input ? 0 : from + 1; piece <= last; ++piece) given[piece].insert(v->name);
      can_keep &= has_known_size(*v);
      if (has_known_size(*v)) bytes += byte_size(v->dtype(), element_count(ir::constants(v->dims())));
    }
  }
  std::vector<RuntimeValue> outputs_of(const InputSet& changed) const {
    std::vector<RuntimeValue> list;
    for (const ir::Value* v : graph.outputs) {
      const auto own = changed.find(v->name);
      list.emplace_back(own != changed.end() ? own->second : v->is_constant() ? v->constant->tensor : values.at(v->name));
    }
    return list;
  }
  // Adds what a piece makes to `to`; what it is given lies there, or among the values.
  void run(Runs& piece, InputSet& to) const {
    InputSet in;
    for (const std::string& name : piece.inputs) {
      const auto own = to.find(name);
      in[name] = own != to.end() ? own->second : values.at(name);
    }
    const std::vector<RuntimeValue> out = piece.runs.run(in);
    for (std::size_t i = 0; i < out.size(); ++i) to[piece.outputs[i]] = out[i].tensor();
  }
};

StoredRuns::StoredRuns(ir::Graph graph, std::vector<plan::Range> ranges, const Names& nodes, const BuildConfig& config)
    : impl_(new Impl{std::move(graph), std::move(ranges), config, nodes, {}, {}, {}, {}, true, 0}) {
  impl_->graph.sort();
  impl_->cut();
}
StoredRuns::~StoredRuns() = default;

std::optional<std::int64_t> StoredRuns::bytes() const { return impl_->can_keep ? std::optional(impl_->bytes) : std::nullopt; }

std::vector<RuntimeValue> StoredRuns::take(const InputSet& sample) {
  Impl& own = *impl_;
  if (own.pieces.empty())
    for (std::size_t i = 0; i < own.made.size(); ++i)
      own.pieces.push_back(
          own.made[i].empty() ? nullptr : std::make_unique<Runs>(piece_of(own.graph, own.given[i], own.made[i]), own.ranges, own.config));
  InputSet values = sample;
  own.values.clear();
  for (const auto& piece : own.pieces)
    if (piece) own.run(*piece, values);
  own.values = std::move(values);
  return own.outputs_of({});
}

StoredRuns::Other StoredRuns::other(std::size_t i, const std::function<void(ir::Graph&, ir::Node&)>& change) const {
  const Impl& own = *impl_;
  Names requested;
  for (const auto& node : own.graph.nodes())
    if (node->name == own.nodes[i])
      for (const ir::Value* v : node->outputs)
        if (std::count(own.made[i].begin(), own.made[i].end(), v->name)) requested.push_back(v->name);
  Other other;
  other.impl_ = std::make_shared<Other::Impl>();
  if (requested.empty()) return other;
  ir::Graph piece = piece_of(own.graph, own.given[i], requested);
  for (ir::Node* node : piece.node_list())
    if (node->name == own.nodes[i]) change(piece, *node);
  piece.sweep(), piece.sort();
  other.impl_->runs = std::make_unique<Runs>(std::move(piece), own.ranges, own.config);
  return other;
}

std::vector<RuntimeValue> StoredRuns::outputs_with(std::size_t i, Other& other) const {
  const Impl& own = *impl_;
  InputSet changed;
  if (other.impl_->runs) own.run(*other.impl_->runs, changed);
  for (std::size_t piece = i + 1; piece < own.pieces.size(); ++piece) {
    if (!own.pieces[piece]) continue;
    const Names& reads = own.pieces[piece]->inputs;
    if (std::any_of(reads.begin(), reads.end(), [&](const std::string& name) { return changed.count(name) > 0; }))
      own.run(*own.pieces[piece], changed);
  }
  return own.outputs_of(changed);
}

}  // namespace tenfold::builder
