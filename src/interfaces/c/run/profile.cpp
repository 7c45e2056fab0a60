// Profilers and observers from C.
#include "c/run/common.h"
#include "tenfold/c/profile.h"

using namespace tenfold;
using namespace tenfold::c;

extern "C" void tenfold_context_measure_parts(tenfold_context* context, int32_t on) {
  if (context) context->context->measure_parts(on != 0);
}
extern "C" tenfold_status tenfold_context_last_times(const tenfold_context* context, tenfold_run_times* times) {
  return guarded([&] {
    const RunTimes t = need(context, "the context").context->last_times();
    give(times, {0, t.host_to_device_ms, t.compute_ms, t.device_to_host_ms, t.enqueue_ms}, "the place for the times");
  });
}
extern "C" tenfold_status tenfold_context_set_profiler(tenfold_context* context, tenfold_profiler_function profiler, void* user) {
  return guarded([&] {
    ProfilerCallback callback;
    if (profiler) callback = [profiler, user](std::string_view step, double ms) { profiler(user, std::string(step).c_str(), ms); };
    need(context, "the context").context->set_profiler(std::move(callback));
  });
}
extern "C" tenfold_status tenfold_context_set_step_timer(tenfold_context* context, tenfold_step_timer_function timer, void* user) {
  return guarded([&] {
    StepTimeCallback callback;
    if (timer) callback = [timer, user](const StepTime& step) { timer(user, std::string(step.name).c_str(), step.start_ms, step.ms); };
    need(context, "the context").context->set_step_timer(std::move(callback));
  });
}
extern "C" tenfold_status tenfold_context_set_observer(tenfold_context* context, tenfold_observer_function observer, void* user) {
  return guarded([&] {
    ObserverCallback callback;
    if (observer)
      callback = [observer, user](std::string_view step, std::string_view value, const Tensor& result) {
        const tenfold_data data{result};
        observer(user, std::string(step).c_str(), std::string(value).c_str(), &data);
      };
    need(context, "the context").context->set_observer(std::move(callback));
  });
}
extern "C" tenfold_status tenfold_context_mark_ranges(tenfold_context* context, int32_t on, int32_t* listens) {
  return guarded([&] {
    const bool there = need(context, "the context").context->mark_ranges(on != 0);
    if (listens) *listens = there;
  });
}
