// Refitting in three steps: which weights change, what the recipes make of them, and the packings of the steps that read the results.
#include "runtime/engine/refit.h"

#include <cstring>
#include <set>

#include "base/checked.h"
#include "base/files/hash.h"
#include "ir/text.h"
#include "ops/interpret.h"
#include "plan/step_problem.h"
#include "tenfold/internal/nearest.h"

namespace tenfold::runtime {
namespace {

using Tensors = std::map<std::int32_t, Tensor>;   // by number of a weight, or of a constant

std::uint64_t hash_of(const Tensor& t) {
  return hash64(std::span(static_cast<const std::byte*>(t.raw()), static_cast<std::size_t>(t.bytes())));
}

std::int32_t find_weight(const plan::Refit& refit, const std::string& name) {
  std::vector<std::string> names;
  for (const plan::RefitWeight& w : refit.weights) {
    if (w.name == name) return static_cast<std::int32_t>(names.size());
    names.push_back(w.name);
  }
  const std::string hint = nearest(name, names);
  fail(ErrorKind::invalid_argument, cat("the plan has no weight '", name, "'", hint.empty() ? "" : cat("; did you mean '", hint, "'?"),
                                        " (it has ", names.size(), " named weights)"));
}

// The weights that get another value, checked.
Tensors changed_weights(const plan::Refit& refit, const NamedWeights& given) {
  require(!refit.weights.empty(), ErrorKind::unsupported, "the plan cannot be refitted: build it with BuildConfig::refittable (--refit)");
  Tensors changed;
  std::set<std::int32_t> seen;
  for (const auto& [name, tensor] : given) {
    const std::int32_t number = find_weight(refit, name);
    const plan::RefitWeight& weight = refit.weights[static_cast<std::size_t>(number)];
    require(seen.insert(number).second, ErrorKind::invalid_argument, "weight '", name, "' is given twice");
    require(tensor.defined() && tensor.dtype() == weight.dtype && tensor.shape() == weight.shape, ErrorKind::invalid_argument, "weight '",
            name, "' is ", tenfold::name(weight.dtype), "[", text(weight.shape), "] in the plan, ",
            tensor.defined() ? cat(tenfold::name(tensor.dtype()), "[", text(tensor.shape()), "]") : "nothing", " is given");
    if (weight.dtype == DType::string || hash_of(tensor) == weight.hash) continue;
    require(weight.fixed.empty(), ErrorKind::unsupported, "weight '", name, "' cannot get another value: its old one was ", weight.fixed,
            "; build the model again");
    changed[number] = tensor.clone();   // the caller may go on writing into his
  }
  return changed;
}

std::int32_t weight_number(const ir::Value& input, const plan::Refit& refit) {
  const std::string& name = input.name;
  const std::size_t number =
      name.size() > 1 && name.size() < 9 && name[0] == 'w' ? std::strtoul(name.c_str() + 1, nullptr, 10) : refit.weights.size();
  require(number < refit.weights.size(), ErrorKind::plan_refused, "the plan's recipes ask for '", name, "', which is no weight");
  const plan::RefitWeight& w = refit.weights[number];
  require(input.type.tensor == ir::TensorType{w.dtype, ir::to_dims(w.shape)}, ErrorKind::plan_refused, "the plan's recipes take weight '",
          w.name, "' for ", ir::text(input.type));
  return static_cast<std::int32_t>(number);
}

// Keeps only the results that follow from changed inputs; returns the plan's constants that they are.
std::vector<std::int32_t> keep_affected(ir::Graph& graph, const plan::Refit& refit, const Tensors& changed) {
  std::set<const ir::Value*> affected;
  for (const ir::Value* v : graph.inputs)
    if (changed.count(weight_number(*v, refit))) affected.insert(v);
  for (const auto& n : graph.nodes())
    if (std::any_of(n->inputs.begin(), n->inputs.end(), [&](const ir::Value* v) { return affected.count(v); }))
      affected.insert(n->outputs.begin(), n->outputs.end());
  require(graph.outputs.size() == refit.results.size(), ErrorKind::plan_refused, "the plan's recipes have ", graph.outputs.size(),
          " results for ", refit.results.size(), " constants");
  std::vector<std::int32_t> constants;
  std::vector<ir::Value*> outputs;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (!affected.count(graph.outputs[i])) continue;
    constants.push_back(refit.results[i]);
    outputs.push_back(graph.outputs[i]);
  }
  graph.outputs = outputs;
  graph.sweep();
  return constants;
}

// The constants that change, by number, as they are before any packing.
Tensors replay(const plan::Refit& refit, const Tensors& changed, const ir::Registry& registry) {
  std::vector<std::shared_ptr<const ir::Constant>> constants;
  for (const Tensor& t : refit.tensors) constants.push_back(std::make_shared<ir::Constant>(ir::Constant{.tensor = t}));
  ir::Graph graph = ir::parse_graph(refit.recipes, registry, {.constants = &constants});
  const std::vector<std::int32_t> results = keep_affected(graph, refit, changed);
  std::vector<ops::RuntimeValue> inputs;
  for (const ir::Value* v : graph.inputs) {
    const std::int32_t number = weight_number(*v, refit);
    const auto it = changed.find(number);
    const std::int32_t original = refit.weights[static_cast<std::size_t>(number)].original;
    if (it != changed.end()) inputs.emplace_back(it->second);
    else if (v->users.empty()) inputs.emplace_back();
    else if (original >= 0) inputs.emplace_back(refit.tensors[static_cast<std::size_t>(original)]);
    else
      fail(ErrorKind::plan_refused,
           cat("the plan does not hold weight '", refit.weights[static_cast<std::size_t>(number)].name, "', which another one needs"));
  }
  const std::vector<ops::RuntimeValue> values = ops::run_graph(graph, inputs);
  Tensors made;
  for (std::size_t i = 0; i < results.size(); ++i) made[results[i]] = std::get<Tensor>(values[i]);
  return made;
}

// Puts changed constants where the steps read them.
class Packer {
 public:
  Packer(plan::Plan& plan, const backends::TacticSet& tactics, const ir::Registry& registry, const Tensors& made)
      : plan_(plan), tactics_(tactics), registry_(registry), made_(made) {}

  void run() {
    for (const plan::Program& top : plan_.programs) walk(top, top);
    for (const auto& [index, tensor] : made_)
      if (!packed_.count(index)) put(index, tensor);   // no step reads it: kept for re-tuning
    plan_.replaced.resize(plan_.constants.size());
    for (auto& [index, bytes] : packed_) {
      const auto i = static_cast<std::size_t>(index);
      if (std::memcmp(plan_.bytes_of(i), bytes.raw(), static_cast<std::size_t>(bytes.bytes())) == 0) continue;
      plan_.constants[i].hash = hash_of(bytes);
      plan_.replaced[i] = std::move(bytes);
    }
  }

 private:
  void walk(const plan::Program& top, const plan::Program& program) {
    for (const plan::Step& step : program.steps) {
      for (const plan::Program& nested : step.programs) walk(top, nested);
      const bool touched =
          std::any_of(step.in.begin(), step.in.end(), [&](const plan::Operand& o) { return is_weight(o) && made_.count(o.at.index); });
      if (touched) follow(top, step);
    }
  }
  static bool is_weight(const plan::Operand& o) { return o.at.space == plan::Space::weights; }

  // What does not change of a packing that rounds f32: that cannot be undone, and it looks at no neighbor.
  bool stays(const plan::Operand& o, const backends::Tactic* tactic) const {
    return o.packed && tactic && tactic->rounds_f32 && !made_.count(o.at.index);
  }

  // Other packings may look at their neighbors, so a step with any changed operand packs all of them again.
  void follow(const plan::Program& top, const plan::Step& step) {
    const ir::SymbolBounds box = plan::program_box(top);
    const backends::Problem problem = plan::step_problem(step, top.dims, box, tactics_.device(), registry_);
    const backends::Tactic* tactic = tactics_.find(step.tactic);
    std::vector<Tensor> tensors(step.in.size());
    std::vector<const Tensor*> operands(step.in.size());
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      if (!is_weight(step.in[i]) || stays(step.in[i], tactic)) continue;
      tensors[i] = original(problem, step, tactic, static_cast<int>(i), top);
      operands[i] = &tensors[i];
    }
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      const plan::Operand& o = step.in[i];
      if (!operands[i]) continue;
      if (o.packed) {
        const std::int64_t bytes = tactic->packed_bytes(problem, step.config, static_cast<int>(i));
        require(bytes > 0 && o.at.offset == 0, ErrorKind::plan_refused, "step '", step.name, "' reads a packed constant from its middle");
        Tensor memory(DType::u8, {bytes});
        tactic->pack(problem, step.config, static_cast<int>(i), operands, memory.mutable_raw());
        put(o.at.index, std::move(memory));
      } else if (made_.count(o.at.index)) {
        put(o.at.index, tensors[i]);
      }
    }
  }

  Tensor original(const backends::Problem& problem, const plan::Step& step, const backends::Tactic* tactic, int i,
                  const plan::Program& top) const {
    const plan::Operand& o = step.in[static_cast<std::size_t>(i)];
    const auto made = made_.find(o.at.index);
    ir::Dims dims;
    for (plan::DimIndex d : o.dims) dims.push_back(top.dims[static_cast<std::size_t>(d)]);
    const Shape shape = ir::constants(dims);
    if (made != made_.end()) {
      require(made->second.dtype() == o.dtype && made->second.size() == element_count(shape), ErrorKind::plan_refused,
              "a recipe of the plan gives step '", step.name, "' a constant of another type");
      return made->second.reshaped(shape);
    }
    const std::byte* bytes = plan_.bytes_of(static_cast<std::size_t>(o.at.index)) + o.at.offset;
    if (!o.packed) return Tensor(o.dtype, shape, plan_.weights_owner, bytes);
    require(tactic && tactic->unpack, ErrorKind::unsupported, "the packing of tactic '", step.tactic,
            "' cannot be undone, so its neighbors cannot change");
    return tactic->unpack(problem, step.config, i, bytes);
  }

  void put(std::int32_t index, Tensor bytes) {
    require(bytes.bytes() == plan_.constants[static_cast<std::size_t>(index)].bytes, ErrorKind::plan_refused, "a recipe of the plan makes ",
            bytes.bytes(), " bytes for a constant of ", plan_.constants[static_cast<std::size_t>(index)].bytes);
    const auto [it, fresh] = packed_.try_emplace(index, bytes);
    check(fresh || std::memcmp(it->second.raw(), bytes.raw(), static_cast<std::size_t>(bytes.bytes())) == 0, "two steps pack constant ",
          index, " differently");
  }

  plan::Plan& plan_;
  const backends::TacticSet& tactics_;
  const ir::Registry& registry_;
  const Tensors& made_;
  Tensors packed_;
};

}  // namespace

plan::Plan refit(const EngineState& engine, const NamedWeights& weights) {
  plan::Plan plan = engine.plan;
  const Tensors changed = changed_weights(plan.refit, weights);
  if (changed.empty()) return plan;
  const Tensors made = replay(plan.refit, changed, *engine.registry);
  Packer(plan, engine.tactics, *engine.registry, made).run();
  for (const auto& [number, tensor] : changed) {
    plan::RefitWeight& weight = plan.refit.weights[static_cast<std::size_t>(number)];
    weight.hash = hash_of(tensor);
    if (weight.original >= 0) plan.refit.tensors[static_cast<std::size_t>(weight.original)] = tensor;
  }
  return plan;
}

}  // namespace tenfold::runtime
