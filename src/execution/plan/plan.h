// Plan: everything needed to run a model on one kind of machine, as plain data. Saved as it is; holds no pointer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/clock.h"
#include "backends/code.h"
#include "backends/device_info.h"
#include "backends/layout.h"
#include "ir/attributes.h"
#include "ir/body.h"
#include "ir/numerics.h"
#include "ir/type.h"
#include "plan/refit.h"

namespace tenfold::plan {

using DimIndex = std::int32_t;     // into Program::dims

// Memory of an operand: a space and a byte offset. Resolved per context, so a plan can be mapped, shared and refitted.
enum class Space : std::uint8_t {
  none,       // a missing operand
  weights,    // index: which constant
  arena,      // offset into the program's activation memory
  binding,    // index: which input or output of the program
  grown,      // index: which buffer of Program::grown
  object,     // index: which of Program::objects; no memory: host steps alone read and write them
  literal,    // index: which of Plan::literals
  count_
};
struct Address {
  Space space = Space::none;
  std::int32_t index = 0;
  std::int64_t offset = 0;         // bytes
};
// Memory of a device, or of the caller's.
inline bool is_memory(Space space) { return space != Space::none && space != Space::object && space != Space::literal; }
// A tensor of numbers, whose bytes lie in memory; anything else is an object.
inline bool lies_in_memory(const ir::ValueType& type) { return type.holds_numbers() && type.ranked; }
struct Operand {
  Address at;
  DType dtype = DType::f32;              // string for all objects, whose types are in Program::objects: no byte of theirs lies in memory
  std::vector<DimIndex> dims, strides;   // strides in elements; of an object: the dims of a tensor of strings, else none
  backends::Layout layout;
  bool dense = true;
  bool constant = false;
  bool packed = false;                   // a weight in the packing of this step's tactic
  std::string name;                      // of the value, for inspection and comparison
};

enum class StepKind : std::uint8_t { kernel, host, copy, branch, loop, count_ };
struct Program;
struct Step {
  StepKind kind = StepKind::kernel;
  std::string name;                      // of the node, for profiles and errors
  std::string op;
  ir::Attributes attributes;
  ir::Numerics numerics;
  bool has_body = false;
  ir::Body body;
  int anchor_inputs = 0;
  std::string tactic;                    // kernel: name and version
  std::int32_t tactic_version = 0;
  std::vector<std::int64_t> config;
  std::vector<Operand> in, out;
  std::vector<Program> programs;         // branch: then, else; loop: the body
  std::int64_t workspace_offset = 0, workspace_bytes = 0;   // in the arena; for branch and loop the bodies' arena
  std::int32_t workspace_dynamic = -1;     // instead: a buffer of Program::grown
  std::vector<std::int32_t> defines;     // symbols (indices into Program::symbols of the top program) known after this step
};

// A run of steps between points where the host must decide: each step that defines sizes ends one.
struct Segment { std::int32_t first = 0, count = 0; };

// The range of one symbol in a profile's box, and the point it was tuned for.
struct Range { std::string symbol; std::int64_t min = 0, opt = 0, max = 0; };
struct Program {
  std::vector<Range> box;
  std::vector<ir::Symbol> symbols;       // evaluated in this order; input symbols first
  std::vector<ir::Dim> dims;             // the dims table; bodies of branch and loop steps index their top program's table
  std::vector<DimIndex> grown;           // bytes of buffers whose size has no usable bound: the context allocates them in the run,
                                         // once the symbols are defined; bodies index their top program's
  std::vector<ir::ValueType> objects;    // types of values that are no tensors of numbers: those of the bindings first, by number, where
                                         // other bindings have entries that nothing uses; of top programs alone
  std::vector<Operand> inputs, outputs;  // formal types; Space::binding, or Space::object with the same number
  std::vector<Step> steps;
  std::int32_t precomputed = 0;  // the first steps, which depend on no newest row (passes/newest_row.h); of top programs alone
  std::int32_t rows_input = -1, rows_axis = -1;  // where early > 0: the binding whose rows they read, all but the last along this axis
  std::vector<Segment> segments;
  std::int64_t arena_bytes = 0;
  std::int64_t arena_live_bytes = 0;     // the largest sum of live buffers: the lower bound
};

struct Binding {
  std::string name;
  ir::ValueType type;
  bool is_input = true;
  std::int32_t default_constant = -1;  // of an input: its value where nothing is bound; -1: it must be bound
};
// Output `output` continues input `input` (state): they may share memory.
struct StatePair { std::int32_t input = 0, output = 0; };

struct Constant {
  std::string name;                      // of the weight, or of the value
  std::int64_t offset = 0, bytes = 0;    // in the weights section
  std::uint64_t hash = 0;                // XXH3 of the content
};

// The model as it was imported, so that it can be built again where this plan is of no use: builder/rebuild/kept_model.h
// says how. Every later version of Tenfold reads its two sections and the labels, whatever else changes in the file.
struct KeptModel {
  std::string text;                      // empty: not kept
  std::shared_ptr<const void> owner;
  std::span<const std::byte> weights;
};

// What the plan was made of, and how fast the machine was then: for people, and for a note at load.
struct Built {
  std::string model_hash;                // of the model's file: its bytes, and XXH3 of them in 128 bits ("1234:0123...ef"); empty: no file
  std::string options;                   // of the build, in words
  std::vector<backends::Clock> clocks;   // when its kernels were timed; empty: none was
};

struct Plan {
  backends::DeviceInfo device;           // built for
  std::uint32_t needs = 0;               // features the chosen tactics use
  bool keeps_denormals = false;          // runs on a CPU do not flush them to zero
  std::string model_name, builder;       // where from: ONNX's graph.name, library version
  std::vector<Binding> bindings;         // inputs, then outputs
  std::vector<StatePair> states;
  std::vector<Constant> constants;
  std::vector<Tensor> literals;          // constants that are strings
  std::vector<Program> programs;         // one per box
  std::shared_ptr<const void> weights_owner;
  const std::byte* weights = nullptr;    // constants' bytes, 64-byte aligned
  std::int64_t weights_bytes = 0;
  std::string portable;                  // the graph as the tuner got it, text form; empty if dropped
  std::map<std::string, std::string> labels;   // the caller's, by key
  std::string names;                     // the model's, of steps and values, as plan/names.h writes them; empty: not kept
  backends::CodeList code;               // compiled for the steps' tactics; what is missing is compiled when the plan is opened
  Refit refit;
  KeptModel kept;
  Built built;
  std::vector<Tensor> replaced;          // by constant: bytes that a refit put in the place of those in `weights`; undefined: none did

  const std::byte* bytes_of(std::size_t constant) const {
    const bool old = replaced.empty() || !replaced[constant].defined();
    return old ? weights + constants[constant].offset : static_cast<const std::byte*>(replaced[constant].raw());
  }
};

}  // namespace tenfold::plan
