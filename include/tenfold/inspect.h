// The content of a plan, as data (Engine::inspection()). Engine::inspect() and inspect_json() say the same as text.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tenfold/export.h"
#include "tenfold/tensor.h"

namespace tenfold {

// An operand or a result of a step. Of an optional operand that is left out, only `place` is set, to "-".
struct PlanOperand {
  std::string name;                    // of the value; empty: it has no name
  DType dtype = DType::f32;
  Shape shape;                         // -1 where the extent depends on the run
  std::string dims_text;               // the shape in words: "batch,(2 * batch),384"
  std::string layout;                  // "plain", "cl" (channels last) ...
  std::string place;                   // "arena+512", "constant 3 'w'", "binding 0", "grown 1"
  bool constant = false;
  bool packed = false;                 // a weight in the packing of this step's tactic
  bool dense = true;                   // false: a view with strides
  std::int64_t bytes = -1;             // of a constant, as it is stored; -1: it is no constant
  std::vector<std::int32_t> tensors;   // tensors of the model that it equals, as indices into PlanProgram::tensors
};

struct PlanStep {
  std::string name, op;                // of the node
  std::string kind;                    // "kernel", "reference" (on the host), "copy", "branch", "loop"
  std::string tactic;                  // of a kernel; else empty
  int tactic_version = 0;
  std::vector<std::int64_t> config;
  std::string attributes, body;        // as text; empty: none
  std::vector<PlanOperand> inputs, outputs;
  std::int64_t workspace_bytes = 0;
  int parent = -1;                     // index of the branch or loop that it belongs to, a step before it; -1: none
  int part = 0;                        // in a branch: 0 then, 1 else
  // The nodes of the model that it computes, as indices into PlanProgram::nodes. Empty: Tenfold added the step.
  std::vector<std::int32_t> nodes;
};

// A node of the model, in the model's order.
struct PlanNode {
  std::string name;                    // "conv1"; for a node without a name, its operator and results: "Conv -> y"
  std::vector<std::int32_t> steps;     // the steps that compute it, as indices into PlanProgram::steps
  // What removed it, where no step computes it: "import", a pass ("fold_constants"), "unused", or "view" (it only views
  // other memory).
  std::string removed_by;
};
// A tensor of the model: an input, a weight, the result of a node.
struct PlanTensor {
  std::string name;
  std::int32_t step = -1;              // the first step that makes it, reads it or has it inside; -1: none
  // Where it is, in words: "result 0 of step 3, arena+512", "inside step 3", "gone: fold_constants removed 'add'".
  std::string where;
};

// The values of a symbol in a profile.
struct PlanRange { std::string symbol; std::int64_t min = 0, opt = 0, max = 0; };
// The program for one optimization profile.
struct PlanProgram {
  std::vector<PlanRange> ranges;       // of the symbols that the profile leaves open
  std::vector<PlanStep> steps;         // in the order in which they run; those of a branch or loop follow it
  // Activations: the arena that a context has, and the largest sum of those alive at once.
  std::int64_t arena_bytes = 0, arena_live_bytes = 0;
  // The model's nodes and tensors. Empty in plans that keep no names.
  std::vector<PlanNode> nodes;
  std::vector<PlanTensor> tensors;
};

// How fast a part of the machine ran when the plan's kernels were timed. For the "processor" that is the measured
// clock; for "GPU" and "GPU memory" it is the highest.
struct PlanClock { std::string of; std::int64_t khz = 0; };

struct PlanInspection {
  std::string model_name, builder;     // ONNX's graph.name; the library that built the plan
  std::string device, device_kind;     // "AMD EPYC 7B13", "cpu"
  std::string needs;                   // features that its kernels need: "avx2 avx512"
  std::int64_t weight_bytes = 0;
  int constants = 0;
  bool portable = false;               // the plan can be tuned again for another machine
  std::vector<PlanProgram> programs;
  std::map<std::string, std::string> labels;
  std::string model_hash;              // of the model's file: "bytes:XXH3 in 128 bits"; empty: it was no file
  std::string build_options;           // the options of the build, in words
  std::vector<PlanClock> clocks;       // empty: nothing was timed
  // Operators of plug-ins that its steps need, as domain and operator ("com.example.Snake"), sorted.
  std::vector<std::string> plugin_operators;
};

// The content of a plan's file. Nothing runs, so the plan's device, the processor's features and the plug-ins need not
// be here.
struct PlanFileInspection {
  PlanInspection plan;
  std::array<std::string, 3> text;     // what Engine::inspect() gives for detail -1, 0 and 1
  std::string json;                    // what Engine::inspect_json() gives
};
// Throws io if the file cannot be read, and plan_refused if it is no plan, damaged or of another format. Thread safe.
TENFOLD_API PlanFileInspection inspect_plan(const std::string& path);

struct PlanVersion {
  std::uint32_t format = 0;            // the format of the file
  std::uint32_t reads = 0;             // the format that this library reads
  // The library that built the plan: "tenfold 0.1.0". Empty: an older plan, which does not say.
  std::string builder;
};
// The version of a plan, whatever its format. Throws as inspect_plan() does. Thread safe.
TENFOLD_API PlanVersion plan_version(const std::string& path);

}  // namespace tenfold
