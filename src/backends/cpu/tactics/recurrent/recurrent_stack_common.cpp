#include "backends/cpu/tactics/recurrent/recurrent_stack_common.h"

#include <sched.h>

#include <atomic>
#include <new>
#include <optional>
#include <utility>

namespace tenfold::backends::cpu {

using ops::RecurrentStackLayer;
using std::int64_t;

int stack_layers(const Problem& stack) { return RecurrentStackLayer::of(static_cast<int64_t>(stack.in.size()) - 1) + 1; }

StackLayer::StackLayer(const Problem& stack, int layer) : attributes_(ops::recurrent_stack_layer(*stack.attributes)), problem_(stack) {
  const auto at = RecurrentStackLayer::operands(layer);
  const auto given = [&](int operand) {
    const bool exists = operand >= 0 && static_cast<std::size_t>(operand) < stack.in.size();
    return exists ? stack.in[static_cast<std::size_t>(operand)] : OperandDesc{.missing = true};
  };
  const OperandDesc& x = stack.in[0];
  problem_.op = &ir::Registry::builtin().get(stack.attributes->string("cell"));
  problem_.attributes = &attributes_;
  problem_.in.clear();
  for (const int operand : at) problem_.in.push_back(given(operand));
  if (layer > 0) problem_.in[0] = {.dtype = x.dtype, .dims = {x.dims[0], x.dims[1], given(at[1]).dims[2]}};
  problem_.anchor_inputs = static_cast<int>(problem_.in.size());
  if (layer + 1 < stack_layers(stack)) problem_.out = {{.dtype = x.dtype, .dims = {x.dims[0], 1, x.dims[1], given(at[2]).dims[2]}}};
}

Verdict supports_stack(const Problem& stack, const Tactic& layers) {
  if (stack_layers(stack) > RecurrentStackLayer::kMaxLayers) return Verdict::no("too many layers");
  for (int layer = 0; layer < stack_layers(stack); ++layer) {
    const auto r = static_cast<std::size_t>(RecurrentStackLayer::operands(layer)[2]);
    if (r >= stack.in.size() || stack.in[0].dims.size() != 3 || stack.in[r - 1].dims.size() != 3 || stack.in[r].dims.size() != 3)
      return Verdict::no("a layer has no weights of rank 3");
  }
  for (int layer = 0; layer < stack_layers(stack); ++layer)
    if (Verdict v = layers.supports(StackLayer(stack, layer).problem()); !v) return v;
  return Verdict::ok();
}

// Long cells leave workers without one at both ends of a run; short ones are handed on more often. Products take rows three at a time.
std::vector<Config> stack_configs(const Problem&) { return {{6}, {12}, {3}}; }
Verdict valid_stack(const Problem&, const Config& c) {
  if (c.size() != 1) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[0] <= 1 << 16, "its number of steps is out of range");
}

double stack_work(const Problem& stack) {
  double work = 0;
  for (int layer = 0; layer < stack_layers(stack); ++layer) work += recurrent_work(StackLayer(stack, layer).problem());
  return work;
}

namespace {

constexpr int64_t kLine = 64;

// How far the workers are. On lines of their own, for all of them read and write it.
struct alignas(kLine) Progress {
  std::atomic<int64_t> count{0};
};
struct Board {
  Progress claimed;                                // cells
  Progress done[RecurrentStackLayer::kMaxLayers];  // cells of a layer, which are done in order
};

struct StackKernel {
  std::vector<std::shared_ptr<const RecurrentKernel>> layers;
  int64_t steps_of_cell;
};

// Where things lie in the workspace: the board, then for each layer its own, and what it hands to the next. Each on a line of its own.
class Layout {
 public:
  explicit Layout(void* workspace) : at_(static_cast<char*>(workspace)) {}
  template <class T = float>
  T* take(int64_t bytes) {
    return static_cast<T*>(static_cast<void*>(std::exchange(at_, at_ + round_up(bytes, kLine))));
  }

 private:
  char* at_;
};

// A layer's run, with the operands that it reads. It stays where it was made.
struct LayerRun {
  Bound in[7], out[3];
  int64_t dims[2][4], strides[2][4];
  RunArgs args;
  std::optional<RecurrentRun> run;
};

void set_dense(Bound& bound, float* data, std::initializer_list<int64_t> dims, int64_t* dims_at, int64_t* strides_at) {
  std::copy(dims.begin(), dims.end(), dims_at);
  bound = {data, dims_at, strides_at, static_cast<int>(dims.size())};
  int64_t stride = 1;
  for (int axis = bound.rank - 1; axis >= 0; --axis) strides_at[axis] = stride, stride *= dims_at[axis];
}

class StackRun {
 public:
  StackRun(const StackKernel& kernel, const RunArgs& args) noexcept : kernel_(kernel), layers_(static_cast<int>(kernel.layers.size())) {
    const int64_t steps = args.in[0].dims[0], samples = args.in[0].dims[1];
    Layout layout(args.workspace);
    board_ = new (layout.take<void>(sizeof(Board))) Board;
    float* rows = nullptr;   // that the layer before hands on
    for (int l = 0; l < layers_; ++l) {
      const RecurrentKernel& layer = *kernel.layers[static_cast<std::size_t>(l)];
      LayerRun& run = runs_[l];
      const auto at = RecurrentStackLayer::operands(l);
      for (std::size_t i = 0; i < at.size(); ++i)
        if (at[i] >= 0 && static_cast<std::size_t>(at[i]) < args.in.size()) run.in[i] = args.in[static_cast<std::size_t>(at[i])];
      if (l > 0) set_dense(run.in[0], rows, {steps, samples, layer.e.input}, run.dims[0], run.strides[0]);
      const bool last = l + 1 == layers_;
      if (!last) {
        rows = layout.take(steps * samples * layer.e.hidden * 4);
        set_dense(run.out[0], rows, {steps, 1, samples, layer.e.hidden}, run.dims[1], run.strides[1]);
      }
      for (std::size_t i = 0; last && i < args.out.size(); ++i) run.out[i] = args.out[i];
      run.args = args;
      run.args.in = run.in, run.args.out = std::span(run.out, last ? args.out.size() : 1);
      run.args.workspace = layout.take<void>(recurrent_workspace(layer.e, steps, samples));
      run.run.emplace(layer, run.args);
    }
    cells_ = ceil_div(steps, kernel.steps_of_cell), steps_ = steps;
  }

  void all(Parallel& parallel) noexcept {
    for (int l = 0; l < layers_; ++l) runs_[l].run->begin();
    parallel.for_each(std::min(parallel.workers(), layers_), [&](int64_t, int worker) { work(worker); });
    for (int l = 0; l < layers_; ++l) runs_[l].run->end();
  }

 private:
  // Diagonal by diagonal: cell c of layer l is on diagonal l + c.
  void work(int worker) noexcept {
    int64_t number = 0, mine = claim();
    for (int64_t diagonal = 0; diagonal < layers_ + cells_ - 1; ++diagonal)
      for (int l = 0; l < layers_; ++l) {
        const int64_t cell = diagonal - l;
        if (cell < 0 || cell >= cells_ || number++ != mine) continue;
        compute(l, cell, worker);
        mine = claim();
      }
  }
  int64_t claim() noexcept { return board_->claimed.count.fetch_add(1, std::memory_order_relaxed); }
  void compute(int l, int64_t cell, int worker) noexcept {
    wait_for(l, cell);
    if (l > 0) wait_for(l - 1, cell + 1);
    const int64_t first = cell * kernel_.steps_of_cell;
    runs_[l].run->steps(first, std::min(first + kernel_.steps_of_cell, steps_), worker);
    board_->done[l].count.store(cell + 1, std::memory_order_release);
  }
  // The worker that has the cell may have lost its CPU to this one.
  void wait_for(int l, int64_t cells) const noexcept {
    constexpr int kPatience = 4000;
    for (int turn = 0; board_->done[l].count.load(std::memory_order_acquire) < cells; ++turn)
      if (turn < kPatience) __builtin_ia32_pause();
      else sched_yield();
  }

  const StackKernel& kernel_;
  int layers_;
  Board* board_;
  LayerRun runs_[RecurrentStackLayer::kMaxLayers];
  int64_t cells_, steps_;
};

}  // namespace

ir::Dim stack_workspace(const Problem& stack, const Tactic& layers) {
  ir::Dim bytes = static_cast<int64_t>(sizeof(Board)) + 2 * kLine * RecurrentStackLayer::kMaxLayers;
  for (int l = 0; l < stack_layers(stack); ++l) {
    const StackLayer layer(stack, l);
    const Problem& p = layer.problem();
    bytes = bytes + layers.workspace(p, layers.configs(p).front()) + ir::product(p.out[0].dims) * ir::Dim(4);
  }
  return bytes;
}

ir::Dim stack_scratch(const Problem& stack, const Tactic& layers) {
  int64_t max = 0;
  for (int l = 0; layers.worker_scratch && l < stack_layers(stack); ++l) {
    const StackLayer layer(stack, l);
    max = std::max(max, layers.worker_scratch(layer.problem(), layers.configs(layer.problem()).front()).constant());
  }
  return max;
}

std::shared_ptr<const void> open_stack(const Problem& stack, const Config& c, const Tactic& layers, Opening& opening) {
  auto kernel = std::make_shared<StackKernel>();
  kernel->steps_of_cell = c[0];
  for (int l = 0; l < stack_layers(stack); ++l) {
    const StackLayer layer(stack, l);
    const std::shared_ptr<const void> opened = layers.open(layer.problem(), layers.configs(layer.problem()).front(), opening);
    kernel->layers.emplace_back(opened, static_cast<const RecurrentKernel*>(opened.get()));
  }
  return kernel;
}

Status::Code run_stack(const void* self, const RunArgs& args) noexcept {
  StackRun(*static_cast<const StackKernel*>(self), args).all(*args.parallel);
  return Status::ok;
}

}  // namespace tenfold::backends::cpu
