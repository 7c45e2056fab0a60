// recurrent_block: RNN, LSTM and GRU, forward, reverse and both: a block for each sample and direction walks through
// all steps. State and gates of a sample stay in the block's shared memory, a warp sums up a gate's row of weights at
// a time. Exotic options are left to the reference.
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/kernels/recurrent/recurrent_block_args.h"
#include "backends/cuda/tactics/elements_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

using std::int64_t;

constexpr int kThreads = 1024;
constexpr int64_t kSharedBytes = 48 << 10;  // what every block may have

bool is_lstm(const Problem& p) { return p.op->name == "LSTM"; }

int64_t gates_of(const Problem& p) { return is_lstm(p) ? 4 : p.op->name == "GRU" ? 3 : 1; }

// An RNN's own function, if that is one for all directions; nothing if it is another.
std::string activation_of(const Problem& p) {
  if (!p.attributes->has("activations")) return "tanhf(x)";
  const auto& names = p.attributes->strings("activations");
  for (const std::string& n : names)
    if (n != names.front()) return "";
  const std::string n = names.empty() ? "Tanh" : names.front();
  return n == "Tanh" ? "tanhf(x)" : n == "Relu" ? "x < 0.f ? 0.f : x" : n == "Sigmoid" ? "sigmoid(x)" : "";
}

struct Extents {
  int64_t directions, gates, input, hidden;
  explicit Extents(const Problem& p)
      : directions(p.in[1].dims[0].constant()), gates(gates_of(p)), input(p.in[1].dims[2].constant()), hidden(p.in[2].dims[2].constant()) {}
  int64_t shared_bytes() const { return 4 * (input + (gates + 3) * hidden); }
};

Verdict supports(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  for (std::size_t i = 1; i < 3; ++i) {
    if (!ir::is_constant(p.in[i].dims)) return Verdict::no("the weights' extents are not constant");
    for (ir::Dim d : p.in[i].dims)
      if (d.constant() < 1 || d.constant() > 1 << 16) return Verdict::no("the weights are empty or too large");
  }
  if (given(p, 4)) return Verdict::no("sequences of different lengths");
  if (given(p, 7)) return Verdict::no("peepholes");
  if (gates_of(p) > 1 && p.attributes->has("activations")) return Verdict::no("activations is set; expected the default activations");
  if (activation_of(p).empty()) return Verdict::no("an activation that is none of Tanh, Relu and Sigmoid, or several");
  if (p.attributes->number("clip", 0) != 0) return Verdict::no("clipping");
  if (p.attributes->integer("input_forget", 0) != 0) return Verdict::no("input and forget gates are coupled");
  const DType type = p.in[0].dtype;
  if (type != DType::f32 && type != DType::f16 && type != DType::bf16) return Verdict::no(cat("elements are ", name(type)));
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.missing && (!o.dense || o.layout != kPlain || o.dtype != type))
        return Verdict::no("an operand is not dense, plain and of one type");
  if (p.bounds(p.in[0].dims[p.attributes->integer("layout") != 0 ? 0 : 1]).upper > int64_t{1} << 30) return Verdict::no("too many samples");
  return Verdict::only_if(Extents(p).shared_bytes() <= kSharedBytes, "gates and state do not fit in shared memory");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  int64_t directions = 1;
  unsigned shared_bytes = 0;
  bool lstm = false, batch_first = false, gives[8] = {}, has_output[3] = {};
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const Extents e(p);
  auto k = std::make_shared<Kernel>();
  const DType type = p.in[0].dtype;
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  define("T", storage_type(type)), define("LOAD(x)", loaded(type, "(x)")), define("STORE(x)", stored(type, "(x)"));
  define("GATES", e.gates), define("HIDDEN", e.hidden), define("INPUT", e.input), define("THREADS", kThreads);
  define("ACTIVATION", activation_of(p));
  define("LSTM", is_lstm(p) ? 1 : 0), define("REVERSE", p.attributes->string("direction") == "reverse" ? "true" : "false");
  define("PRODUCT_FIRST", p.attributes->integer("linear_before_reset", 0) != 0 ? "true" : "false");
  k->module = device_of(*p.device).load(text.of("recurrent/recurrent_block.cu"), opening);
  k->function = k->module->function("walk");
  k->directions = e.directions, k->shared_bytes = static_cast<unsigned>(e.shared_bytes()), k->lstm = is_lstm(p);
  k->batch_first = p.attributes->integer("layout") != 0;
  for (std::size_t i = 0; i < 8; ++i) k->gives[i] = given(p, i);
  for (std::size_t i = 0; i < 3; ++i) k->has_output[i] = p.out.size() > i && !p.out[i].missing;
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const auto in = [&](std::size_t i) { return k.gives[i] ? args.in[i].data : nullptr; };
  const auto out = [&](std::size_t i) { return k.has_output[i] ? args.out[i].data : nullptr; };
  const Bound& x = args.in[0];
  const int64_t steps = x.dims[k.batch_first ? 1 : 0], batch = x.dims[k.batch_first ? 0 : 1], input = x.dims[2],
                hidden = args.in[2].dims[2], directions = k.directions;
  RecurrentArguments a{in(0), in(1), in(2), in(3), in(5), k.lstm ? in(6) : nullptr, out(0), out(1), k.lstm ? out(2) : nullptr, steps, 0, 0,
              0,     0,     0,     0,     0};
  if (k.batch_first) {  // x [batch, steps, input], y [batch, steps, directions, hidden], states [batch, directions, hidden]
    a.x_sample = steps * input, a.x_step = input;
    a.y_sample = steps * directions * hidden, a.y_step = directions * hidden, a.y_direction = hidden;
    a.state_sample = directions * hidden, a.state_direction = hidden;
  } else {  // x [steps, batch, input], y [steps, directions, batch, hidden], states [directions, batch, hidden]
    a.x_step = batch * input, a.x_sample = input;
    a.y_step = directions * batch * hidden, a.y_direction = batch * hidden, a.y_sample = hidden;
    a.state_direction = batch * hidden, a.state_sample = hidden;
  }
  return launch(queue_of(args), k.function, {static_cast<unsigned>(batch), static_cast<unsigned>(directions)}, kThreads, k.shared_bytes, &a,
                Start::early);
}

double work(const Problem& p) {
  const Extents e(p);
  return 2.0 * static_cast<double>(p.bounds(p.in[0].dims[0] * p.in[0].dims[1]).upper) *
         static_cast<double>(e.directions * e.gates * e.hidden * (e.input + e.hidden));
}

}  // namespace

Tactic cuda_recurrent_block() {
  return {.name = "recurrent_block",
          .ops = {{"GRU", "gru_block"}, {"LSTM", "lstm_block"}, {"RNN", "rnn_block"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .work = work,
          .cases = {"RNN f32[7,4,30] f32[1,40,30]! f32[1,40,40]! f32[1,80] outputs=2",
                    "RNN f32[5,2,30] f32[2,5,30]! f32[2,5,5]! f32[2,10]! _ f32[2,2,5] direction=\"bidirectional\" "
                    "activations=[\"Relu\",\"Relu\"] outputs=2"}};
}

}  // namespace tenfold::backends
