// Running from C.
#include "c/run/common.h"
#include "tenfold/c/context.h"

using namespace tenfold;
using namespace tenfold::c;

tenfold_status tenfold::c::outcome(const ExecutionContext& context, Status status) noexcept {
  if (status) return TENFOLD_OK;
  std::string text;
  try {
    text = context.describe(status);
  } catch (...) {
  }
  return failed(run_status(status.code), text.c_str());
}

extern "C" tenfold_status tenfold_context_create(const tenfold_engine* engine, tenfold_context** context) {
  return guarded([&] {
    const Engine& own = need(engine, "the engine").engine;
    place(context, "the place for the context", [&] { return new tenfold_context{own, own.create_context()}; });
  });
}
extern "C" void tenfold_context_free(tenfold_context* context) { delete context; }

extern "C" tenfold_status tenfold_context_set_shape(tenfold_context* context, int32_t input, const int64_t* shape, int32_t rank) {
  if (!context || rank < 0 || (rank > 0 && !shape)) return failed(TENFOLD_INVALID_ARGUMENT, "a null context or shape");
  return outcome(*context->context, context->context->set_input_shape(input, {shape, static_cast<std::size_t>(rank)}));
}
extern "C" tenfold_status tenfold_context_shape(const tenfold_context* context, int32_t binding, int64_t* shape, int32_t* rank) {
  if (!context || !rank || *rank < 0 || (*rank > 0 && !shape)) return failed(TENFOLD_INVALID_ARGUMENT, "a null context, shape or rank");
  int known = 0;
  const Status status = context->context->shape(binding, {shape, static_cast<std::size_t>(*rank)}, known);
  if (status) *rank = known;
  return outcome(*context->context, status);
}
extern "C" tenfold_status tenfold_context_bind(tenfold_context* context, int32_t binding, void* memory, size_t bytes) {
  if (!context || bytes > INT64_MAX) return failed(TENFOLD_INVALID_ARGUMENT, "a null context, or memory that is too large");
  return outcome(*context->context, context->context->bind(binding, memory, static_cast<std::int64_t>(bytes)));
}
extern "C" tenfold_status tenfold_context_memory(tenfold_context* context, int32_t binding, void** memory) {
  return guarded([&] { need(memory, "the place for the address") = need(context, "the context").context->own_memory(binding); });
}
extern "C" tenfold_status tenfold_context_run(tenfold_context* context) {
  if (!context) return failed(TENFOLD_INVALID_ARGUMENT, "the context is null");
  return outcome(*context->context, context->context->run());
}
extern "C" tenfold_status tenfold_context_precompute(tenfold_context* context) {
  if (!context) return failed(TENFOLD_INVALID_ARGUMENT, "the context is null");
  return outcome(*context->context, context->context->precompute());
}
extern "C" tenfold_status tenfold_context_enqueue(tenfold_context* context, void* stream) {
  if (!context) return failed(TENFOLD_INVALID_ARGUMENT, "the context is null");
  return outcome(*context->context, context->context->enqueue(stream));
}
extern "C" tenfold_status tenfold_context_prepare(tenfold_context* context) {
  if (!context) return failed(TENFOLD_INVALID_ARGUMENT, "the context is null");
  return outcome(*context->context, context->context->prepare());
}
extern "C" tenfold_status tenfold_context_wait(tenfold_context* context) {
  if (!context) return failed(TENFOLD_INVALID_ARGUMENT, "the context is null");
  return outcome(*context->context, context->context->wait());
}
extern "C" int32_t tenfold_context_cancel(tenfold_context* context) { return context && context->context->cancel(); }

extern "C" tenfold_status tenfold_context_set_profile(tenfold_context* context, int32_t profile) {
  if (!context) return failed(TENFOLD_INVALID_ARGUMENT, "the context is null");
  return outcome(*context->context, context->context->set_profile(profile));
}
extern "C" void* tenfold_context_device_memory(tenfold_context* context, int32_t binding) {
  return context ? context->context->device_memory(binding) : nullptr;
}
extern "C" tenfold_status tenfold_context_wait_how(tenfold_context* context, int32_t how) {
  if (!context || how < TENFOLD_WAIT_SPIN_SHORTLY || how > TENFOLD_WAIT_SLEEP)
    return failed(TENFOLD_INVALID_ARGUMENT, "a null context, or no way to wait");
  static_assert(static_cast<int>(Wait::sleep) == TENFOLD_WAIT_SLEEP && static_cast<int>(Wait::spin) == TENFOLD_WAIT_SPIN);
  context->context->wait_how(static_cast<Wait>(how));
  return TENFOLD_OK;
}
extern "C" void tenfold_context_replay_runs(tenfold_context* context, int32_t on) {
  if (context) context->context->replay_runs(on != 0);
}
