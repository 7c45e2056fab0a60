// What a plan holds, as data: Engine::inspection(). The text and JSON of Engine::inspect() say the same.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tenfold/export.h"
#include "tenfold/tensor.h"

namespace tenfold {

// An operand or a result of a step. A missing optional operand has the place "-" and nothing else.
struct PlanOperand {
  std::string name;                    // of the value; empty: it has none
  DType dtype = DType::f32;
  Shape shape;                         // -1 where the extent depends on the run
  std::string dims_text;               // the same in words: "batch,(2 * batch),384"
  std::string layout;                  // "plain", "cl" (channels last) ...
  std::string place;                   // "arena+512", "constant 3 'w'", "binding 0", "grown 1"
  bool constant = false;
  bool packed = false;                 // a weight in the packing of this step's tactic
  bool dense = true;                   // false: a view with strides
  std::int64_t bytes = -1;             // of a constant as it is stored; -1: no constant
  std::vector<std::int32_t> tensors;   // the model's that it equals, as indices into PlanProgram::tensors
};

struct PlanStep {
  std::string name, op;                // of the node
  std::string kind;                    // "kernel", "reference" (on the host), "copy", "branch", "loop"
  std::string tactic;                  // of a kernel
  int tactic_version = 0;
  std::vector<std::int64_t> config;
  std::string attributes, body;        // as text; empty: none
  std::vector<PlanOperand> inputs, outputs;
  std::int64_t workspace_bytes = 0;
  int parent = -1;                     // the branch or loop that it belongs to, as an index of a step before it; -1: none
  int part = 0;                        // of a branch: 0 then, 1 else
  std::vector<std::int32_t> nodes;     // the model's that it computes, as indices into PlanProgram::nodes; empty: one that Tenfold added
};

// A node of the model, in the model's order.
struct PlanNode {
  std::string name;                    // "conv1"; of a node without a name its operator and results: "Conv -> y"
  std::vector<std::int32_t> steps;     // that compute it, as indices into PlanProgram::steps
  std::string removed_by;              // where no step does: "import", a pass ("fold_constants"), "unused", "view" (other memory seen)
};
// A tensor of the model: an input, a weight, the result of a node.
struct PlanTensor {
  std::string name;
  std::int32_t step = -1;              // the first that makes it or reads it, or inside which it is; -1: none
  std::string where;                   // in words: "result 0 of step 3, arena+512", "inside step 3", "gone: fold_constants removed 'add'"
};

struct PlanRange { std::string symbol; std::int64_t min = 0, opt = 0, max = 0; };
// What runs for one optimisation profile.
struct PlanProgram {
  std::vector<PlanRange> ranges;       // of what the profile leaves open
  std::vector<PlanStep> steps;         // in the order in which they run; a branch's and a loop's own follow it
  std::int64_t arena_bytes = 0, arena_live_bytes = 0;   // of activations: what a context has, and the largest sum of those alive at once
  // The model's names; empty in plans that keep none.
  std::vector<PlanNode> nodes;
  std::vector<PlanTensor> tensors;
};

// How fast a part of the machine ran when the plan's kernels were timed: "processor" as it was measured, "GPU" and "GPU memory" at most.
struct PlanClock { std::string of; std::int64_t khz = 0; };

struct PlanInspection {
  std::string model_name, builder;     // the model's file name, the library that built it
  std::string device, device_kind;     // "AMD EPYC 7B13", "cpu"
  std::string needs;                   // features that its kernels need: "avx2 avx512"
  std::int64_t weight_bytes = 0;
  int constants = 0;
  bool portable = false;               // it can be tuned again for another machine
  std::vector<PlanProgram> programs;
  std::map<std::string, std::string> labels;
  std::string model_hash;              // of the model's file: "bytes:XXH3 in 128 bits"; empty: it was built of no file
  std::string build_options;           // those of the build, in words
  std::vector<PlanClock> clocks;       // empty: nothing was timed
  std::vector<std::string> plugin_operators;   // that its steps need of plug-ins: "com.example.Snake", domain and operator; by name
};

// A plan's file, looked at without opening it. Nothing runs, so its device, the processor's features and its plug-ins need not be here.
struct PlanFileInspection {
  PlanInspection plan;
  std::array<std::string, 3> text;     // as Engine::inspect() tells it, in less and in more detail: of -1, 0 and 1
  std::string json;                    // as Engine::inspect_json() does
};
// Throws io where the file cannot be read, plan_refused where it is no plan, damaged or of another format. Thread safe.
TENFOLD_API PlanFileInspection inspect_plan(const std::string& path);

struct PlanVersion {
  std::uint32_t format = 0;            // of the file
  std::uint32_t reads = 0;             // the one that this library reads
  std::string builder;                 // the library that built the plan: "tenfold 0.1.0"; empty: an older one, which does not say
};
// Of a plan of any version. Throws as inspect_plan() does. Thread safe.
TENFOLD_API PlanVersion plan_version(const std::string& path);

}  // namespace tenfold
