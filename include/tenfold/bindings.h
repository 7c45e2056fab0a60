// Inputs and outputs beyond ExecutionContext::bind(): strides, state from run to run, memory that is given when its size is known, what
// memory suits a binding; and values that have none: strings, sequences, optionals and maps.
#pragma once

#include <cstdint>
#include <span>

#include "tenfold/engine.h"
#include "tenfold/value.h"

namespace tenfold {

enum class ValueKind : std::uint8_t { tensor, sequence, optional, map };
enum class Location : std::uint8_t { host, pinned, device };      // the host's memory, such that a GPU reads directly, the GPU's own

// What an engine wants of the memory of a binding.
struct BindingMemory {
  ValueKind kind = ValueKind::tensor;
  std::int64_t bytes = 0;                                         // at the largest shapes of all profiles; -1: no bound is known
  std::int64_t alignment = 64;                                    // at which nothing is copied for its sake
  Location location = Location::host;                             // where nothing is copied; others are accepted
};
TENFOLD_API BindingMemory binding_memory(const Engine& engine, int binding);   // throws invalid_argument

// A region of a larger array, or another order of axes: `strides`, one for each axis, are in elements, none negative; `memory` is where
// element [0, 0, ...] lies, and `bytes` reach from there to the array's end. In the host's memory, or the GPU's. Kernels read and write
// dense memory: unless the strides are dense at the shapes set, elements are copied in front of the run and behind it (on a GPU's own
// memory row by row), as copied_at_border() tells. What lies between the elements of an output is not touched; regions of several
// outputs may interleave, and must not share elements. Elements take whole bytes. bind() ends it. On a GPU, an enqueue() waits for the
// run before where the host copies an input, and an output that the host copies is there when wait() returns or the completion is told.
TENFOLD_API Status bind_strided(ExecutionContext& context, int binding, void* memory, std::int64_t bytes,
                                std::span<const std::int64_t> strides) noexcept;
TENFOLD_API bool copied_at_border(const ExecutionContext& context, int binding) noexcept;   // in the last run, on the host or a GPU

// The output continues the input: what a run gives there is what the next run reads, in memory of the context's own (a GPU's, there),
// zeros at first. In place where the plan allows it, else in two places that swap after every run; nothing is copied. The input takes
// the output's shape when the next run begins. own_memory() refuses both (invalid_argument). in_place_too = false: two places always, so
// that a run that fails or is cancelled leaves the state as it was. Types and ranks are equal, and both sizes have bounds. bind() of
// either ends it.
TENFOLD_API Status bind_state(ExecutionContext& context, int output, int input, bool in_place_too = true) noexcept;
// The state that the next run reads, at its shape. They wait for what was enqueued.
TENFOLD_API Status read_state(ExecutionContext& context, int input, void* host, std::int64_t bytes) noexcept;
TENFOLD_API Status write_state(ExecutionContext& context, int input, const void* host, std::int64_t bytes) noexcept;
TENFOLD_API Status clear_state(ExecutionContext& context, int input) noexcept;   // zeros

// Gives memory for `bytes` of an output, to be written by this run; null: Status::out_of_memory. Called once in each run, in the thread
// that runs: before the steps, where shapes of inputs decide the size; else behind them with the size that came out, and then the output
// is copied there (copied_at_border()). For 0 bytes null will do. prepare() does not ask. It must not use the context.
using OutputAllocator = void* (*)(void* user, int output, std::int64_t bytes);
TENFOLD_API Status set_allocator(ExecutionContext& context, int output, OutputAllocator allocate, void* user) noexcept;   // null: none

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
