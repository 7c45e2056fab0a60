// Loop: a closed body repeated while its condition holds, at most `trip count` times.
//
// Operands: trip count or null, condition or null, `carried` values, captures. Body inputs: iteration i64[], condition bool[],
// carried values, captures. Body outputs: condition, carried values, then one element of each scan output.
#include <algorithm>
#include <map>

#include "ops/control/control_common.h"

namespace tenfold::ir {
namespace {

const ValueType kIteration{ValueType::Kind::tensor, {DType::i64, {}}, true};
const ValueType kCondition{ValueType::Kind::tensor, {DType::boolean, {}}, true};

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
bool widen(Graph& graph, const std::string& node, std::size_t index, ValueType& type, const ValueType& next, Varies& varies) {
  require_sound(type.kind == next.kind && type.tensor.dtype == next.tensor.dtype, "carried value ", index,
                " enters as ", text(type), " and leaves as ", text(next));
  if (!type.ranked) return false;
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

// Types of the carried values that hold in every iteration. Leaves the body inferred with them.
std::vector<ValueType> settle(InferCall& call, Graph& body, std::size_t carried) {
  const Node& node = call.node();
  const Graph original = body.clone();  // inference may write extents into attributes; each try starts anew
  std::vector<ValueType> types;
  Known known(node.name, carried);
  for (std::size_t i = 0; i < carried; ++i)
    start(call.graph(), node.name, i, types.emplace_back(call.type(static_cast<int>(2 + i))), known[i]);
  for (;;) {
    std::vector<ops::Formal> formal{{kIteration}, {kCondition}};
    for (const ValueType& type : types) formal.push_back({type});
    const std::vector<ops::Formal> captures = ops::captured(node, 2 + carried);
    formal.insert(formal.end(), captures.begin(), captures.end());
    ops::infer_body(call.graph(), body, formal);
    bool changed = false;
    for (std::size_t i = 0; i < carried; ++i) changed |= widen(call.graph(), node.name, i, types[i], body.outputs[1 + i]->type, known[i]);
    if (!changed) return types;
    body = original.clone();
  }
}

bool always_true(const Value* value) {
  return value->is_constant() && value->constant->tensor.size() == 1 && value->constant->tensor.as_int(0) != 0;
}

// The number of iterations: the trip count itself if nothing can end the loop early.
Dim trips(InferCall& call, const Graph& body) {
  const Dims* limit = call.contents(0);
  const bool limited = limit != nullptr && limit->size() == 1;
  const Value* last = body.outputs[0];
  while (last->producer != nullptr && last->producer->op() == "Identity") last = last->producer->in(0);
  const bool goes_on = always_true(last) || last == body.inputs[1];
  const bool starts = !call.has(1) || always_true(call.node().in(1));
  if (limited && goes_on && starts) return max((*limit)[0], 0);
  return call.new_symbol("trips", 0, limited ? max((*limit)[0], 0) : Dim(kUnbounded));
}

void infer(InferCall& call) {
  const Node& node = call.node();
  require_sound(node.graphs.size() == 1, "Loop has ", node.graphs.size(), " bodies, expected one");
  Graph& body = *node.graphs[0];
  const std::int64_t count = call.attributes().integer("carried");
  require_sound(count >= 0 && count + 2 <= call.inputs() && count <= call.outputs(), "Loop carries ", count, " values, but has ",
                call.inputs(), " operands and ", call.outputs(), " results");
  const auto carried = static_cast<std::size_t>(count);
  require_sound(static_cast<int>(body.outputs.size()) == call.outputs() + 1, "the body has ", body.outputs.size(), " results, expected ",
                call.outputs() + 1);
  const std::vector<ValueType> types = settle(call, body, carried);
  const Dim iterations = trips(call, body);
  for (std::size_t i = 0; i < carried; ++i) call.out(static_cast<int>(i), types[i]);
  for (std::size_t i = carried; i + 1 < body.outputs.size(); ++i) {
    ValueType type = ops::lift(call, body, body.outputs[1 + i]->type, cat("scan", i));
    require_sound(type.kind == ValueType::Kind::tensor, "scan output ", i, " is ", text(type), ", expected a tensor");
    type.tensor.dims.insert(type.tensor.dims.begin(), iterations);
    call.out(static_cast<int>(i), type);
  }
}

// Imports the body with types that hold for every iteration, for conversions may look at extents.
std::vector<Value*> from_onnx(OnnxImport& call) {
  std::vector<Value*> own = call.inputs;
  own.resize(std::max<std::size_t>(own.size(), 2), nullptr);
  std::vector<ValueType> formal{kIteration, kCondition};
  const std::size_t carried = own.size() - 2;
  Known known(call.name(), carried);
  for (std::size_t i = 0; i < carried; ++i)
    start(call.graph(), call.name(), i, formal.emplace_back(call.need(static_cast<int>(2 + i))->type), known[i]);
  for (;;) {
    ops::Bodies bodies = ops::import_bodies(call, {"body"}, {formal});
    const std::vector<Value*>& results = bodies.graphs[0]->outputs;
    require_sound(results.size() > carried, "the body has ", results.size(), " results, but beside the condition ", carried,
                  " values are carried");
    bool changed = false;
    for (std::size_t i = 0; i < carried; ++i) {
      changed |= widen(call.graph(), call.name(), i, formal[2 + i], results[1 + i]->type, known[i]);
    }
    if (!changed) return ops::add_control(call, std::move(bodies), own, {{"carried", static_cast<std::int64_t>(carried)}});
  }
}

}  // namespace

OpDef op_loop() {
  return {.name = "Loop",
          .min_inputs = 2,
          .max_inputs = -1,
          .min_outputs = 0,
          .max_outputs = -1,
          .optional_attributes = {"carried"},
          .infer = infer,
          .from_onnx = {{"Loop", 1, from_onnx}}};
}

}  // namespace tenfold::ir
