// Kernels of plug-ins: a state for each node of each context, and the call that a run makes of it.
#include "runtime/plugins/kernel.h"

#include <atomic>

#include "backends/cuda/backend.h"
#include "ops/onnx_dtype.h"

namespace tenfold::runtime {
namespace {

using backends::Bound;
using backends::Config;
using backends::Problem;

// A plug-in's state for one node of one context.
struct State {
  std::shared_ptr<const void> keeps_plugin;
  const PluginTable& plugin;
  const tenfold_plugin_tactic& table;
  void* state = nullptr;
  State(std::shared_ptr<const void> keeps, const PluginTable& p, const tenfold_plugin_tactic& t)
      : keeps_plugin(std::move(keeps)), plugin(p), table(t) {}
  State(const State&) = delete;
  ~State() {
    if (opened && table.close) table.close(plugin.table.self, state);
  }
  bool opened = false;
};

// One node with a tactic chosen for it, shared by its contexts.
struct Node {
  Node(const Problem& p, const Config& config, int number)
      : op(p.op),
        attributes_of(*p.attributes),
        in(p.in),
        out(p.out),
        device(*p.device),
        box(p.box ? *p.box : ir::SymbolBounds{}),
        config(config),
        number(number),
        attributes(attributes_of, plugin_of(*op).attribute_names) {
    for (const backends::OperandDesc& o : in)
      types_in.push_back(o.missing ? 0 : static_cast<std::int32_t>(ops::onnx_number(o.dtype)));
    for (const backends::OperandDesc& o : out)
      types_out.push_back(static_cast<std::int32_t>(ops::onnx_number(o.dtype)));
  }
  Problem problem() const {
    return {.op = op,
            .attributes = &attributes_of,
            .anchor_inputs = static_cast<int>(in.size()),
            .in = in,
            .out = out,
            .box = &box,
            .device = &device};
  }
  std::shared_ptr<State> new_state() const {
    PluginQuestion question(problem(), number, config);
    const auto state = std::make_shared<State>(op->self, question.plugin, question.tactic.table);
    if (!state->table.open) return state;
    const std::int32_t code = state->table.open(question.self(), &question.problem, &state->state);
    expect_done(code, question.plugin, "open",
                question.why.empty() ? cat("tactic '", question.tactic.name, "' cannot be opened").c_str() : question.why.message());
    state->opened = true;
    return state;
  }
  const ir::OpDef* op;  // the engine keeps its plug-ins
  const ir::Attributes attributes_of;
  const std::vector<backends::OperandDesc> in, out;
  const backends::DeviceInfo device;
  const ir::SymbolBounds box;
  const Config config;
  const int number;
  const AttributeViews attributes;
  std::vector<std::int32_t> types_in, types_out;
};

// What is run. The engine's own, with which a node is timed and a plan checked, hands its state to the first context.
struct Kernel {
  Kernel(std::shared_ptr<const Node> n, std::shared_ptr<State> s) : node(std::move(n)), state(std::move(s)) {}
  std::shared_ptr<const Node> node;
  mutable std::shared_ptr<State> state;
  mutable std::atomic<bool> given_away{false};
  mutable PluginWhy why;
};

using Described = std::array<tenfold_plugin_tensor, kMaxPluginOperands>;
void describe(Described& to, std::span<const Bound> from, const std::vector<std::int32_t>& types) noexcept {
  for (std::size_t i = 0; i < from.size(); ++i)
    to[i] = {types[i], from[i].rank, from[i].dims, from[i].strides, from[i].data, nullptr, {}};
}

void run_parts(const tenfold_plugin_run* call, std::int64_t parts, void (*part)(void*, std::int64_t), void* context) {
  static_cast<Parallel*>(call->host)->for_each(parts, [&](std::int64_t i, int) { part(context, i); });
}

// As fault_of_exception() (runtime/step_fault.h) judges errors of ours.
Status::Code status_of(std::int32_t code) noexcept {
  switch (static_cast<ErrorKind>(code - 1)) {
    case ErrorKind::invalid_argument:
    case ErrorKind::invalid_model:
    case ErrorKind::unsupported: return Status::invalid_input;
    case ErrorKind::out_of_memory: return Status::out_of_memory;
    default: return Status::failed;
  }
}

}  // namespace

std::vector<PluginOperandType> plugin_operand_types(const std::vector<backends::OperandDesc>& operands) {
  std::vector<PluginOperandType> types;
  for (const backends::OperandDesc& o : operands)
    types.push_back(
        {.dtype = o.dtype, .dims = o.dims, .layout = o.layout, .missing = o.missing, .constant = o.constant});
  return types;
}

std::shared_ptr<const void> open_plugin_kernel(const Problem& p, const Config& config, int number) {
  auto node = std::make_shared<const Node>(p, config, number);
  std::shared_ptr<State> state = node->new_state();
  return std::make_shared<Kernel>(std::move(node), std::move(state));
}

Status::Code run_plugin_kernel(const void* opened, const backends::RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(opened);
  const Node& node = *kernel.node;
  Described in, out;
  describe(in, args.in, node.types_in), describe(out, args.out, node.types_out);
  tenfold_plugin_run call{};
  call.size = sizeof call, call.attributes = node.attributes.data(), call.attribute_count = node.attributes.count();
  call.in = in.data(), call.inputs = static_cast<std::int32_t>(args.in.size());
  call.out = out.data(), call.outputs = static_cast<std::int32_t>(args.out.size());
  call.workspace = args.workspace, call.why = kernel.why.text, call.why_bytes = sizeof kernel.why.text;
  if (args.queue)
    call.stream = backends::cuda_stream(args);
  else
    call.parallel = run_parts, call.host = args.parallel;
  kernel.why.text[0] = '\0';
  const State& state = *kernel.state;
  const std::int32_t code = state.table.run(state.plugin.table.self, state.state, &call);
  if (code == 0) return Status::ok;
  kernel.why.message();
  if (kernel.why.empty())
    std::snprintf(kernel.why.text, sizeof kernel.why.text, "run() failed with %d and says nothing of why", code);
  return status_of(code);
}

std::string plugin_failure(const void* kernel) {
  const Kernel& k = *static_cast<const Kernel*>(kernel);
  return k.why.empty() ? "" : cat(plugin_text(k.state->plugin), ": ", k.why.text);
}

std::shared_ptr<const void> plugin_kernel(const std::shared_ptr<const void>& opened) {
  const auto& engines = *static_cast<const Kernel*>(opened.get());
  const bool first = !engines.given_away.exchange(true);
  return std::make_shared<Kernel>(engines.node, first ? std::move(engines.state) : engines.node->new_state());
}

}  // namespace tenfold::runtime
