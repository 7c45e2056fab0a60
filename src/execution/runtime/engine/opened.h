// What an Engine holds: the opened plan, with every step's kernel looked up.
#pragma once

#include <memory>
#include <vector>

#include "backends/tactic_set.h"
#include "ir/dim_code.h"
#include "ir/op_def.h"
#include "runtime/engine/engine_access.h"
#include "runtime/engine/idle.h"
#include "runtime/engine/loop_sizes.h"

namespace tenfold::runtime {

struct OpenProgram;

// A step with everything looked up: its tactic's kernel, or the node its reference kernel or control flow needs.
struct OpenStep {
  const plan::Step* step = nullptr;
  const backends::Tactic* tactic = nullptr;
  std::shared_ptr<const void> kernel;
  std::shared_ptr<ir::Graph> host_graph;      // owns host_node; host steps only
  const ir::Node* host_node = nullptr;
  bool may_disagree = false;                  // extents that are symbols have to be compared before it runs
  bool grows = false;                         // its results get their memory when their sizes are known
  bool on_values = false;                     // a host step that reads or gives whole values (runtime/run_values.cpp)
  bool prologue = false;                         // see OpenProgram
  plan::LoopForm loop;
  LoopSizes sizes;                            // of a loop
  std::vector<char> in_backwards, out_backwards;   // Scan: by slice or stack
  std::vector<OpenProgram> programs;
};
struct OpenProgram {
  const plan::Program* program = nullptr;
  std::vector<OpenStep> steps;
  std::vector<std::int32_t> defines;          // symbols that its steps define, and those of the programs that they own
  std::size_t prologue = 0;  // of a top program on a device with memory of its own: steps of its front (plan/host_prologue.h)
  bool counts_in_prologue = false;               // all that is counted
};
// A top-level program: the dims table of all its nested programs, compiled.
struct OpenTop {
  OpenProgram body;
  ir::DimCode dims;
  std::vector<std::string> symbols;
  std::vector<ir::Dim> symbol_dims;           // the same as Dims: making one takes a lock, so never in a run
  std::vector<std::int64_t> symbol_defaults;  // upper bounds, for symbols that steps define
  std::vector<ir::DimCode::Known> unknown;    // what is known of each symbol before its step ran
  std::vector<std::vector<std::int32_t>> defined_by_steps;   // of each dim: its symbols that steps define
  int input_symbols = 0;                      // how many of them come from input shapes; they stand first
  std::vector<char> outputs_grow;             // of each output: whether its size has no usable bound
  bool steps_define() const { return symbols.size() > static_cast<std::size_t>(input_symbols); }
  ir::SymbolBounds box;
};

struct EngineState {
  plan::Plan plan;
  std::shared_ptr<const void> weights_in_table;   // keeps these weights known to the runtime; null: they are not shared
  std::shared_ptr<const void> membership;     // of the runtime, which counts its engines
  std::shared_ptr<const void> constants;      // plan.weights where tactics read them
  std::vector<std::shared_ptr<const void>> replaced;   // by constant: what a refit put in its place, there; null: nothing
  LoadOptions options;
  std::shared_ptr<backends::Backend> backend;
  const ir::Registry* registry = nullptr;
  backends::TacticSet tactics;                // the backend's and the plug-ins'
  std::vector<OpenTop> programs;
  std::vector<BindingInfo> bindings;
  EngineInfo info;
  int inputs = 0;
  std::int64_t scratch_stride = 0;            // what the most demanding step wants for each worker
  std::unique_ptr<IdleContexts> idle = std::make_unique<IdleContexts>();   // last: its contexts use all the rest

  const std::byte* bytes_of(std::size_t constant) const {
    const bool old = replaced.empty() || !replaced[constant];
    return static_cast<const std::byte*>(old ? constants.get() : replaced[constant].get()) + (old ? plan.constants[constant].offset : 0);
  }
};

// The host cannot read the device's memory, so that contexts have a DeviceLink.
bool is_staged(const EngineState& engine) noexcept;
// An operand's bytes at the largest extents of the box.
std::int64_t max_bytes(const plan::Operand& operand, const OpenTop& top);
// Bytes of a binding over all profiles.
std::int64_t largest_bytes(const EngineState& engine, std::size_t binding);
// An output whose size has no usable bound: memory of the context's own grows to it in the run.
bool output_grows(const plan::Program& top, const plan::Operand& formal, const ir::SymbolBounds& box);
// How many operands the host needs: all of a host step, what a branch or a loop decides by. Their bytes on the host, for one program.
std::size_t operands_on_host(const OpenStep& open);
std::int64_t staging_bytes(const EngineState& engine, const OpenTop& top);
// May output `out` lie where input `in` does? `exactly`: at the same address, not merely across it.
bool may_take_place(const EngineState& engine, const OpenTop& top, std::size_t in, std::size_t out, bool exactly);

}  // namespace tenfold::runtime
