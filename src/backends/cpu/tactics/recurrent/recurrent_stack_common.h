// What the tactics of RecurrentStack share. Each has a tactic of single layers, whose packing and products it takes.
//
// A cell is some steps of a layer. It waits for the steps before it and for the same steps of the layer below. Workers claim cells in an
// order in which what a cell waits for stands before it: so whoever has claimed the first cell that is not done can do it, however few
// workers come, and whenever.
#pragma once

#include "backends/cpu/tactics/recurrent/recurrent_run_common.h"
#include "ops/fused/recurrent_stack.h"

namespace tenfold::backends::cpu {

// A layer of a stack as a problem of its own.
class StackLayer {
 public:
  StackLayer(const Problem& stack, int layer);
  StackLayer(const StackLayer&) = delete;
  StackLayer& operator=(const StackLayer&) = delete;
  const Problem& problem() const { return problem_; }

 private:
  ir::Attributes attributes_;
  Problem problem_;
};
int stack_layers(const Problem& stack);
Verdict supports_stack(const Problem& stack, const Tactic& layers);
std::vector<Config> stack_configs(const Problem& stack);            // {steps of a cell}
Verdict valid_stack(const Problem& stack, const Config& c);
ir::Dim stack_workspace(const Problem& stack, const Tactic& layers);
ir::Dim stack_scratch(const Problem& stack, const Tactic& layers);
double stack_work(const Problem& stack);
std::shared_ptr<const void> open_stack(const Problem& stack, const Config& c, const Tactic& layers, Opening& opening);
Status::Code run_stack(const void* self, const RunArgs& args) noexcept;

template <Tactic (*kLayers)()>
struct Stack {
  static const Tactic& layers() {
    static const Tactic tactic = kLayers();
    return tactic;
  }
  static Config of_layer(const Problem& layer) { return layers().configs(layer).front(); }
  static int operand(int input) { return (input - 1) % ops::RecurrentStackLayer::kOperands + 1; }

  static Verdict supports(const Problem& p) { return supports_stack(p, layers()); }
  static std::int64_t packed_bytes(const Problem& p, const Config&, int input) {
    if (input == 0 || operand(input) > 2) return -1;
    const StackLayer layer(p, ops::RecurrentStackLayer::of(input));
    return layers().packed_bytes(layer.problem(), of_layer(layer.problem()), operand(input));
  }
  static void pack(const Problem& p, const Config&, int input, std::span<const Tensor* const> constants, void* packed) {
    const StackLayer layer(p, ops::RecurrentStackLayer::of(input));
    std::array<const Tensor*, 3> of_operand{};
    of_operand[static_cast<std::size_t>(operand(input))] = constants[static_cast<std::size_t>(input)];
    layers().pack(layer.problem(), of_layer(layer.problem()), operand(input), of_operand, packed);
  }
  static Tensor unpack(const Problem& p, const Config&, int input, const void* packed) {
    const StackLayer layer(p, ops::RecurrentStackLayer::of(input));
    return layers().unpack(layer.problem(), of_layer(layer.problem()), operand(input), packed);
  }
  static ir::Dim workspace(const Problem& p, const Config&) { return stack_workspace(p, layers()); }
  static ir::Dim worker_scratch(const Problem& p, const Config&) { return stack_scratch(p, layers()); }
  static std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
    return open_stack(p, c, layers(), opening);
  }
};

}  // namespace tenfold::backends::cpu
