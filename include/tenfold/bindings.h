// Memory of inputs and outputs beyond ExecutionContext::bind(): strides, state that lasts from run to run, memory that
// the caller gives when its size is known. Also tells which memory suits a binding. And inputs and outputs that have no
// memory: strings, sequences, optionals and maps.
#pragma once

#include <cstdint>
#include <span>

#include "tenfold/engine.h"
#include "tenfold/value.h"

namespace tenfold {

enum class ValueKind : std::uint8_t { tensor, sequence, optional, map };
// The host's memory, host memory that a GPU reads directly, the device's own memory.
enum class Location : std::uint8_t { host, pinned, device };

// The memory that suits a binding best. Other memory is accepted, and copied.
struct BindingMemory {
  ValueKind kind = ValueKind::tensor;
  std::int64_t bytes = 0;                                         // at the largest shapes; -1: no bound is known
  std::int64_t alignment = 64;                                    // in bytes; memory aligned so needs no copy for it
  Location location = Location::host;                             // memory there is not copied for its location
};
TENFOLD_API BindingMemory binding_memory(const Engine& engine, int binding);   // throws invalid_argument

// Where the rows lie of an engine that was built with BuildConfig::newest_row (EngineInfo::precomputed_steps is above 0).
struct WindowRows {
  int input = -1;  // a binding; -1: nothing is computed before the newest row
  int axis = -1;   // along which the rows lie; the last one is the newest
};
TENFOLD_API WindowRows window_rows(const Engine& engine) noexcept;

// Binds a region of a larger array, or an array with another order of axes. `strides` has one number for each axis, in
// elements, none negative. `memory` is where element [0, 0, ...] lies, in the host's memory or the GPU's, and `bytes`
// reach from there to the end of the array. Elements take whole bytes.
//
// Kernels read and write dense memory. So unless the strides are dense at the shapes set, elements are copied before
// the run and after it (in a GPU's own memory row by row), as copied_at_border() tells. What lies between the elements
// of an output is not touched. Regions of several outputs may interleave, and must not share elements. bind() ends it.
// On a GPU, where the host copies an input, enqueue() waits for the run before. An output that the host copies is there
// when wait() returns or the completion is called.
TENFOLD_API Status bind_strided(ExecutionContext& context, int binding, void* memory, std::int64_t bytes,
                                std::span<const std::int64_t> strides) noexcept;
// Whether the last run copied the binding, on the host or on a GPU.
TENFOLD_API bool copied_at_border(const ExecutionContext& context, int binding) noexcept;

// Makes an output the state that an input continues: what a run writes to the output is what the next run reads at the
// input. The state lies in memory of the context's own (for a GPU, on the GPU) and is zeros at first. Where the plan
// allows it, output and input share one place. Else there are two places, which swap after every run; nothing is
// copied. in_place_too = false asks for two places always, so that a run that fails or is cancelled leaves the state as
// it was. The input takes the output's shape when the next run begins. Both bindings have one type and one rank, and
// sizes with bounds. own_memory() refuses both (invalid_argument). bind() of either ends it.
TENFOLD_API Status bind_state(ExecutionContext& context, int output, int input, bool in_place_too = true) noexcept;
// Copy the state that the next run reads, at its shape, to or from the host. They wait for what was enqueued.
TENFOLD_API Status read_state(ExecutionContext& context, int input, void* host, std::int64_t bytes) noexcept;
TENFOLD_API Status write_state(ExecutionContext& context, int input, const void* host, std::int64_t bytes) noexcept;
TENFOLD_API Status clear_state(ExecutionContext& context, int input) noexcept;   // sets it to zeros

// Gives memory for `bytes` of an output, which this run writes. Null makes the run return Status::out_of_memory; for 0
// bytes null will do. It is called once in each run, in the thread that runs. Where the shapes of inputs decide the
// size, it is called before the steps. Else it is called after them with the size that came out, and the output is then
// copied there (copied_at_border()). prepare() does not call it. It must not use the context.
using OutputAllocator = void* (*)(void* user, int output, std::int64_t bytes);
// Null: the output has no allocator any more.
TENFOLD_API Status set_allocator(ExecutionContext& context, int output, OutputAllocator allocate, void* user) noexcept;

// The type of a binding in words, for people and for comparing: "f32[batch,3]", "string[2]", "seq(map(i64,f32[]))", "opt(f32[?])".
TENFOLD_API std::string binding_type(const Engine& engine, int binding);   // throws invalid_argument
// Whether a binding takes or gives no tensor of numbers, so that it has no memory that bind() could give: values are bound instead.
TENFOLD_API bool binds_values(const Engine& engine, int binding);

// Binds an input that binds_values(): a tensor of strings, which sets the input's shape too, a sequence, a map, an optional, which may be
// empty. It stays bound until another is. Status::invalid_binding, with the reason in describe(), where the value has another type.
TENFOLD_API Status bind_value(ExecutionContext& context, int binding, RuntimeValue value) noexcept;
// What the last run gave there, or what is bound; nothing before. Throws invalid_argument for bindings with memory of their own.
TENFOLD_API RuntimeValue bound_value(const ExecutionContext& context, int binding);
// Whole values in, whole values out, for any engine: by binding order, tensors of numbers included; an input with a default may be empty.
TENFOLD_API std::vector<RuntimeValue> run_values(ExecutionContext& context, const std::vector<RuntimeValue>& inputs,
                                                 const RunOptions& options = {});

}  // namespace tenfold
