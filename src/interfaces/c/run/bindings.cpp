// Memory of bindings and contexts from C.
#include "tenfold/c/bindings.h"

#include "c/run/common.h"
#include "tenfold/bindings.h"
#include "tenfold/dlpack.h"

using namespace tenfold;
using namespace tenfold::c;

namespace {

template <class Act>
tenfold_status with(tenfold_context* context, Act act) noexcept {
  if (!context) return failed(TENFOLD_INVALID_ARGUMENT, "the context is null");
  return outcome(*context->context, act(*context->context));
}

std::int64_t signed_bytes(std::size_t bytes) { return static_cast<std::int64_t>(std::min<std::size_t>(bytes, INT64_MAX)); }

std::vector<Shape> shapes_of(const Engine& engine, const int64_t* shapes, std::size_t count) {
  std::vector<Shape> inputs;
  std::size_t at = 0;
  for (const BindingInfo& b : engine.bindings()) {
    if (!b.is_input || !shapes) break;
    require(count - at >= b.shape.size(), ErrorKind::invalid_argument, "the shapes of all inputs have more than ", count, " extents");
    inputs.emplace_back(shapes + at, shapes + at + b.shape.size());
    at += b.shape.size();
  }
  require(!shapes || at == count, ErrorKind::invalid_argument, "the shapes of all inputs have ", at, " extents, ", count, " are given");
  return inputs;
}

}  // namespace

extern "C" tenfold_status tenfold_engine_binding_memory(const tenfold_engine* engine, int32_t binding, tenfold_binding_memory* memory) {
  return guarded([&] {
    const BindingMemory m = binding_memory(need(engine, "the engine").engine, binding);
    give(memory, {0, static_cast<int32_t>(m.kind), static_cast<int32_t>(m.location), m.bytes, m.alignment},
         "the place for the information");
  });
}

extern "C" tenfold_status tenfold_context_create_in(const tenfold_engine* engine, void* memory, size_t bytes, tenfold_context** context) {
  return guarded([&] {
    const Engine& own = need(engine, "the engine").engine;
    require(memory != nullptr, ErrorKind::invalid_argument, "the memory is null");
    auto made = own.create_context({.memory = memory, .bytes = signed_bytes(bytes)});
    place(context, "the place for the context", [&] { return new tenfold_context{own, std::move(made)}; });
  });
}
extern "C" tenfold_status tenfold_engine_arena_bytes(const tenfold_engine* engine, int32_t profile, const int64_t* shapes, size_t count,
                                                     size_t* bytes) {
  return guarded([&] {
    const Engine& own = need(engine, "the engine").engine;
    need(bytes, "the place for the bytes") = static_cast<std::size_t>(own.arena_bytes(profile, shapes_of(own, shapes, count)));
  });
}

extern "C" tenfold_status tenfold_context_bind_strided(tenfold_context* context, int32_t binding, void* memory, size_t bytes,
                                                       const int64_t* strides, int32_t rank) {
  if (rank < 0 || (rank > 0 && !strides)) return failed(TENFOLD_INVALID_ARGUMENT, "the strides are null, or their number is negative");
  return with(context, [&](ExecutionContext& c) {
    return bind_strided(c, binding, memory, signed_bytes(bytes), {strides, static_cast<std::size_t>(rank)});
  });
}
extern "C" int32_t tenfold_context_copied_at_border(const tenfold_context* context, int32_t binding) {
  return context && copied_at_border(*context->context, binding);
}
extern "C" tenfold_status tenfold_context_bind_state(tenfold_context* context, int32_t output, int32_t input, int32_t two_places) {
  return with(context, [&](ExecutionContext& c) { return bind_state(c, output, input, two_places == 0); });
}
extern "C" tenfold_status tenfold_context_read_state(tenfold_context* context, int32_t input, void* host, size_t bytes) {
  return with(context, [&](ExecutionContext& c) { return read_state(c, input, host, signed_bytes(bytes)); });
}
extern "C" tenfold_status tenfold_context_write_state(tenfold_context* context, int32_t input, const void* host, size_t bytes) {
  return with(context, [&](ExecutionContext& c) { return write_state(c, input, host, signed_bytes(bytes)); });
}
extern "C" tenfold_status tenfold_context_clear_state(tenfold_context* context, int32_t input) {
  return with(context, [&](ExecutionContext& c) { return clear_state(c, input); });
}
extern "C" tenfold_status tenfold_context_set_allocator(tenfold_context* context, int32_t output, tenfold_allocator allocate, void* user) {
  return with(context, [&](ExecutionContext& c) { return set_allocator(c, output, allocate, user); });
}

extern "C" tenfold_status tenfold_context_bind_dlpack(tenfold_context* context, int32_t binding, const DLManagedTensorVersioned* tensor) {
  if (!tensor) return failed(TENFOLD_INVALID_ARGUMENT, "the DLPack tensor is null");
  return with(context, [&](ExecutionContext& c) { return bind_dlpack(c, binding, *tensor); });
}
extern "C" tenfold_status tenfold_context_bind_dlpack_tensor(tenfold_context* context, int32_t binding, const DLTensor* tensor) {
  if (!tensor) return failed(TENFOLD_INVALID_ARGUMENT, "the DLPack tensor is null");
  return with(context, [&](ExecutionContext& c) { return bind_dlpack(c, binding, *tensor); });
}
extern "C" tenfold_status tenfold_context_dlpack(tenfold_context* context, int32_t binding, int32_t on_device,
                                                 DLManagedTensorVersioned** tensor) {
  return guarded([&] {
    need(tensor, "the place for the DLPack tensor") = binding_to_dlpack(*need(context, "the context").context, binding, on_device != 0);
  });
}
