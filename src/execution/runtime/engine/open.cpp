// Opening a plan: machine check, kernels, the nodes of host steps, the facts that Engine tells.
#include "runtime/engine/open.h"

#include <limits>

#include "base/check.h"
#include "base/checked.h"
#include "base/threads/cpu_count.h"
#include "plan/host_prologue.h"
#include "plan/step_node.h"
#include "plan/step_problem.h"
#include "runtime/engine/host_graphs.h"
#include "runtime/engine/notes.h"
#include "runtime/plugins/plugins.h"
#include "runtime/shared/runtime.h"

namespace tenfold::runtime {

namespace {

using plan::Step;
using plan::StepKind;

// What the body of a branch or loop is given lies wherever that may be.
backends::Problem within_body(backends::Problem problem, const Step& step) {
  for (std::size_t i = 0; i < step.in.size(); ++i) problem.in[i].misaligned |= step.in[i].at.space == plan::Space::binding;
  for (std::size_t o = 0; o < step.out.size(); ++o) problem.out[o].misaligned |= step.out[o].at.space == plan::Space::binding;
  return problem;
}

bool runs_on_values(const Step& step, const ir::OpDef& def) {
  const auto object = [](const plan::Operand& o) { return o.at.space == plan::Space::object || o.at.space == plan::Space::literal; };
  return (def.on_values && !def.reference) || std::any_of(step.in.begin(), step.in.end(), object) ||
         std::any_of(step.out.begin(), step.out.end(), object);
}

// Extents that nobody could have memory for are refused when a context is made for them, not here.
std::int64_t binding_bytes(const EngineState& engine) {
  std::int64_t sum = 0;
  try {
    for (std::size_t b = 0; b < engine.bindings.size(); ++b) sum = checked_add(sum, largest_bytes(engine, b));
  } catch (const Error&) {
    if (is_staged(engine)) throw;
    return std::numeric_limits<std::int64_t>::max();
  }
  return sum;
}

struct Opener {
  EngineState& engine;
  backends::Opening& opening;
  const OpenTop& tables;                      // its symbols, and which of them steps define
  const std::vector<ir::Dim>* dims = nullptr;
  const ir::SymbolBounds* box = nullptr;
  const plan::Program* top = nullptr;
  const plan::Disagreements disagreements{engine.plan, *top, *engine.registry};

  void open_kernel(OpenStep& open, bool nested) {
    const Step& step = *open.step;
    open.tactic = engine.tactics.find(step.tactic);
    require(open.tactic != nullptr, ErrorKind::plan_refused, "this version has no tactic '", step.tactic, "': rebuild the plan");
    require(open.tactic->version == step.tactic_version, ErrorKind::plan_refused, "tactic '", step.tactic, "' is version ",
            open.tactic->version, " here, the plan was built for version ", step.tactic_version, ": rebuild the plan");
    const backends::Problem problem = plan::step_problem(step, *dims, *box, engine.backend->info(), *engine.registry);
    const backends::Verdict verdict = open.tactic->supports(problem);
    require(verdict.yes, ErrorKind::plan_refused, "tactic '", step.tactic, "' refuses its problem: ", verdict.reason);
    const backends::Verdict valid = open.tactic->valid
                                        ? open.tactic->valid(problem, step.config)
                                        : backends::Verdict::only_if(step.config.size() == open.tactic->configs(problem).at(0).size(),
                                                                     "its configuration has another length");
    require(valid.yes, ErrorKind::plan_refused, "tactic '", step.tactic, "': ", valid.reason);
    open.kernel = open.tactic->open(nested ? within_body(problem, step) : problem, step.config, opening);
    if (open.tactic->worker_scratch) {
      const std::int64_t bytes = open.tactic->worker_scratch(problem, step.config).bounds(*box).upper;
      require(bytes >= 0 && bytes < std::int64_t{1} << 40, ErrorKind::plan_refused, "tactic '", step.tactic, "' wants ", bytes,
              " bytes of scratch for each worker");
      engine.scratch_stride = std::max(engine.scratch_stride, backends::scratch_stride(bytes));
    }
  }

  // A node with the step's attributes and operand types, for the reference kernel to read.
  void open_host(OpenStep& open) {
    const Step& step = *open.step;
    open.host_graph = std::make_shared<ir::Graph>(*engine.registry);
    const ir::OpDef* def = engine.registry->find(step.op);
    require(def && (def->reference || def->on_values || step.attributes.has("graphs")), ErrorKind::plan_refused,
            "this version cannot run the operator '", step.op, "': rebuild the plan");
    ir::Node node;
    node.def = def, node.name = step.name, node.attributes = step.attributes, node.numerics = step.numerics;
    if (step.has_body) node.body = step.body;
    load_graphs(node, *engine.registry);
    for (const plan::Operand& o : step.in) {
      ir::Dims extents;
      for (plan::DimIndex i : o.dims) extents.push_back(dims->at(static_cast<std::size_t>(i)));
      node.inputs.push_back(plan::add_operand(engine.plan, *top, *open.host_graph, o, extents));
    }
    open.host_node = open.host_graph->add(std::move(node), static_cast<int>(step.out.size()));
  }

  void open_loop(OpenStep& open, const std::vector<char>& grows) const {
    const Step& step = *open.step;
    open.loop = plan::loop_form(step);
    open.sizes = loop_sizes(tables, *top, step, grows);
    for (std::size_t i = 0; i < open.loop.sliced; ++i) open.in_backwards.push_back(plan::backwards(step, "scan_input_directions", i));
    for (std::size_t i = 0; i < open.loop.stacked; ++i) open.out_backwards.push_back(plan::backwards(step, "scan_output_directions", i));
  }

  // Which results wait for their memory until their size is known? Those in a growing buffer, or in an output too large to set aside.
  std::vector<char> results_grow(const plan::Program& program, const Step& step) const {
    std::vector<char> grow;
    for (const plan::Operand& o : step.out) {
      const bool output = o.at.space == plan::Space::binding && &program == top &&
                          output_grows(*top, program.outputs[static_cast<std::size_t>(o.at.index) - program.inputs.size()], *box);
      grow.push_back(output || o.at.space == plan::Space::grown);
    }
    return grow;
  }

  OpenProgram open(const plan::Program& program) {
    OpenProgram result;
    result.program = &program;
    for (const Step& step : program.steps) {
      OpenStep open;
      open.step = &step;
      open.may_disagree = disagreements.possible(step);
      try {
        if (step.kind == StepKind::kernel) open_kernel(open, &program != top);
        if (open.tactic && open.tactic->source == backends::Source::onednn) engine.info.allocates_in_run = true;
        if (step.kind == StepKind::host) open_host(open);
        for (const plan::Program& p : step.programs) open.programs.push_back(this->open(p));
      } catch (Error& e) {
        throw e.within("step '" + step.name + "' (" + step.op + ")");
      }
      const std::vector<char> grow = step.defines.empty() ? std::vector<char>(step.out.size()) : results_grow(program, step);
      if (step.kind == StepKind::loop) open_loop(open, grow);
      open.on_values = open.host_node && runs_on_values(step, *open.host_node->def);
      open.grows = std::find(grow.begin(), grow.end(), 1) != grow.end();
      if (step.kind == StepKind::host || open.grows) engine.info.allocates_in_run = true;
      if (step.kind != StepKind::kernel && step.kind != StepKind::copy && is_staged(engine)) engine.info.waits_in_run = true;
      result.defines.insert(result.defines.end(), step.defines.begin(), step.defines.end());
      for (const OpenProgram& p : open.programs) result.defines.insert(result.defines.end(), p.defines.begin(), p.defines.end());
      result.steps.push_back(std::move(open));
    }
    return result;
  }
};

void mark_prologue(OpenProgram& program) {
  std::size_t counted = 0;
  program.prologue = plan::prologue_steps(*program.program);
  for (std::size_t s = 0; s < program.prologue; ++s) program.steps[s].prologue = true, counted += program.steps[s].step->defines.size();
  program.counts_in_prologue = program.prologue > 0 && counted == program.defines.size();
}

// Is a size that the step defines one of a result that grows? A loop may have bounded stacks beside values that grow.
bool belongs_to_growing(const OpenTop& top, const OpenStep& open, std::int32_t symbol) {
  if (open.step->kind != StepKind::loop) return open.grows;
  for (const LoopSizes::Extent& e : open.sizes.extents)
    if (e.symbol == symbol) return true;
  for (std::size_t s = 0; s < open.sizes.grows.size(); ++s) {
    const plan::Operand& stack = open.step->out[open.loop.carried + s];
    const std::vector<std::int32_t>& length = top.defined_by_steps[static_cast<std::size_t>(stack.dims[0])];
    if (open.sizes.grows[s] && std::find(length.begin(), length.end(), symbol) != length.end()) return true;
  }
  return false;
}

// Sizes of results that grow are not even guessed before their step has run.
void mark_dynamic(const OpenProgram& program, OpenTop& top) {
  for (const OpenStep& open : program.steps) {
    for (std::int32_t s : open.step->defines)
      if (belongs_to_growing(top, open, s)) top.unknown[static_cast<std::size_t>(s)] = ir::DimCode::Known::nothing;
    for (const OpenProgram& p : open.programs) mark_dynamic(p, top);
  }
}

OpenTop open_top(EngineState& engine, const plan::Program& program, backends::Opening& opening) {
  OpenTop top;
  top.box = plan::program_box(program);
  top.symbols = plan::symbol_names(program);
  top.input_symbols = static_cast<int>(program.box.size());
  for (const std::string& name : top.symbols) {
    const bool input = top.symbol_dims.size() < program.box.size();
    top.symbol_dims.push_back(ir::Dim::symbol(name));
    top.symbol_defaults.push_back(input ? 0 : top.box.at(name).upper);
    top.unknown.push_back(input ? ir::DimCode::Known::value : ir::DimCode::Known::bound);
  }
  top.defined_by_steps = plan::symbols_of_steps(program);
  for (const plan::Operand& o : program.outputs) top.outputs_grow.push_back(output_grows(program, o, top.box));
  top.dims = ir::DimCode(program.dims, top.symbols);
  Opener opener{engine, opening, top, &program.dims, &top.box, &program};
  top.body = opener.open(program);
  mark_dynamic(top.body, top);
  if (is_staged(engine)) mark_prologue(top.body);
  return top;
}

// Of steps that a library computes, bodies of branches and loops included. Workspaces of unknown size are no part of the arena.
std::int64_t library_workspace(const OpenProgram& program) {
  using backends::Source;
  std::int64_t max = 0;
  for (const OpenStep& s : program.steps) {
    const Source source = s.tactic ? s.tactic->source : Source::reference;
    if (source == Source::onednn || source == Source::cublas_lt || source == Source::cudnn) max = std::max(max, s.step->workspace_bytes);
    for (const OpenProgram& body : s.programs) max = std::max(max, library_workspace(body));
  }
  return max;
}

void describe_bindings(EngineState& engine) {
  for (const plan::Binding& b : engine.plan.bindings) {
    BindingInfo info{.name = b.name,
                     .dtype = b.type.tensor.dtype,
                     .shape = {},
                     .names = {},
                     .is_input = b.is_input,
                     .has_default = b.default_constant >= 0};
    for (ir::Dim d : b.type.is_tensor() ? b.type.tensor.dims : ir::Dims()) {
      info.shape.push_back(d.is_constant() ? d.constant() : -1);
      info.names.push_back(d.is_constant() ? "" : d.text());
    }
    engine.inputs += b.is_input;
    engine.bindings.push_back(std::move(info));
  }
}

// What a program adds to the sizes that Engine::info() tells.
void log_memory(EngineState& engine, const OpenTop& top) {
  EngineInfo& info = engine.info;
  for (const Step& step : top.body.program->steps) info.workspace_bytes = std::max(info.workspace_bytes, step.workspace_bytes);
  if (is_staged(engine)) info.pinned_bytes = std::max(info.pinned_bytes, staging_bytes(engine, top));
}

// Starts compiling what the steps need, on all cores. What is wrong with a step is found when it is opened.
void compile_ahead(const EngineState& engine) {
  backends::Opening ahead{.ahead = true};
  const auto start = [&](const auto& self, const plan::Program& program, const plan::Program& top, const ir::SymbolBounds& box) -> void {
    for (const Step& step : program.steps) {
      for (const plan::Program& p : step.programs) self(self, p, top, box);
      const backends::Tactic* t = step.kind == StepKind::kernel ? engine.tactics.find(step.tactic) : nullptr;
      if (!t || t->source != backends::Source::native) continue;
      try {
        const backends::Problem problem = plan::step_problem(step, top.dims, box, engine.backend->info(), *engine.registry);
        if (t->supports(problem).yes && (!t->valid || t->valid(problem, step.config).yes))
          t->open(&program != &top ? within_body(problem, step) : problem, step.config, ahead);
      } catch (const Error&) {}
    }
  };
  for (const plan::Program& p : engine.plan.programs) start(start, p, p, plan::program_box(p));
}

}  // namespace

void check_machine(const plan::Plan& plan, const backends::DeviceInfo& here) {
  require(plan.device.kind == here.kind, ErrorKind::plan_refused, "the plan was built for '", plan.device.kind, "', this device is '",
          here.kind, "'");
  require(plan.device.arch == here.arch, ErrorKind::plan_refused, "the plan was built for ", plan.device.name, " (sm_", plan.device.arch,
          "), this device is ", here.name, " (sm_", here.arch,
          "): rebuild it here, or re-tune it with `tenfold exec --loadEngine=PLAN --retune`");
  require((plan.needs & ~here.features) == 0, ErrorKind::plan_refused, "the plan was built for ", plan.device.name, " and uses ",
          backends::feature_text(plan.needs), "; this machine (", here.name, ") has ", backends::feature_text(here.features),
          ": rebuild it here, or re-tune it with `tenfold exec --loadEngine=PLAN --retune`");
}

std::shared_ptr<EngineState> open_engine(plan::Plan plan, const LoadOptions& options, std::shared_ptr<backends::Backend> backend,
                                         std::shared_ptr<const void> constants) {
  check_threads(options.threads, "an engine");
  auto engine = std::make_shared<EngineState>();
  engine->plan = std::move(plan);
  engine->options = options;
  engine->backend = std::move(backend);
  engine->membership = join(runtime_of(options.runtime));
  engine->registry = &registry_with(options.plugins.get());
  engine->tactics = tactics_with(*engine->backend, options.plugins.get());
  backends::DeviceMemory& memory = engine->backend->memory();
  engine->constants = constants ? std::move(constants) : place_weights(memory, engine->plan.weights, engine->plan.weights_bytes);
  for (const Tensor& t : engine->plan.replaced)
    engine->replaced.push_back(t.defined() ? place_weights(memory, static_cast<const std::byte*>(t.raw()), t.bytes()) : nullptr);
  describe_bindings(*engine);
  EngineInfo& info = engine->info;
  info.model_name = engine->plan.model_name, info.device = engine->backend->info().name, info.builder = engine->plan.builder;
  info.weight_bytes = engine->plan.weights_bytes;
  info.profiles = static_cast<int>(engine->plan.programs.size());
  info.threads = options.threads > 0 ? options.threads : threads_of(*runtime_of(options.runtime));
  info.on_gpu = is_staged(*engine);
  backends::Opening opening;
  if (backends::CodeStore* code = engine->backend->code()) {
    code->take(engine->plan.code, true);
    if (engine->plan.code.empty()) compile_ahead(*engine);
  }
  for (const plan::Program& p : engine->plan.programs) {
    engine->programs.push_back(open_top(*engine, p, opening));
    if (p.arena_bytes >= info.arena_bytes) info.arena_bytes = p.arena_bytes, info.arena_live_bytes = p.arena_live_bytes;
    info.steps = std::max(info.steps, static_cast<int>(p.steps.size()));
    info.precomputed_steps = std::max(info.precomputed_steps, static_cast<int>(p.precomputed));
    log_memory(*engine, engine->programs.back());
    info.library_workspace_bytes = std::max(info.library_workspace_bytes, library_workspace(engine->programs.back().body));
  }
  engine->plan.code = std::move(opening.used);   // whatever brought it: saved, the plan carries all that it needs
  info.binding_bytes = binding_bytes(*engine);
  info.scratch_bytes = engine->scratch_stride * info.threads;
  note_reference_steps(*engine);
  return engine;
}

}  // namespace tenfold::runtime
