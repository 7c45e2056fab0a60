// The measuring loop.
#include "measure/measure.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "tenfold/bindings.h"

namespace tenfold::cli {
namespace {

using Clock = std::chrono::steady_clock;
struct Span {
  Clock::time_point start, end;
  RunTimes parts;
};

double ms(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }
Clock::duration from_ms(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(value));
}

[[noreturn]] void fail_run(const ExecutionContext& context, Status status) {
  std::string why = "the run failed: " + context.describe(status);
  if (status.code == Status::bad_index || status.code == Status::invalid_input)
    why += " (random inputs may be out of range for this model: give values with --loadInputs)";
  throw Error(status.code == Status::out_of_memory ? ErrorKind::out_of_memory : ErrorKind::device, why);
}

// What one stream does. Nothing but the run stands between the two clock readings.
struct Runner {
  ExecutionContext* context = nullptr;
  std::vector<Span> spans;
  std::int64_t warmup_runs = 0;
  double first_ms = -1;
  Clock::time_point begin;
  Clock::duration early{};   // what all precompute() took
  Status status;

  void run(const MeasureOptions& options) {
    context->measure_parts(options.parts);
    const Clock::time_point cold = Clock::now(), warm = cold + from_ms(options.warmup_ms);
    Clock::time_point now = cold;
    while (options.warmup_ms > 0 && now < warm && status) {
      status = context->run(), now = Clock::now();
      if (++warmup_runs == 1) first_ms = ms(now - cold);
    }
    const double one = warmup_runs ? std::max(ms(now - cold) / static_cast<double>(warmup_runs), 1e-4) : 1;
    spans.reserve(static_cast<std::size_t>(std::clamp(2e3 * options.duration_s / one, double(options.iterations), 2e7)) + 16);
    begin = Clock::now();
    const Clock::time_point until = begin + from_ms(options.duration_s * 1e3);
    Span span{begin, begin, {}};
    for (int i = 0; status && (i < options.iterations || span.end < until); ++i) {
      const Clock::time_point before = Clock::now();
      if (status = context->precompute(); !status) break;
      span.start = Clock::now();
      early += span.start - before;
      status = context->run();
      span.end = Clock::now();
      span.parts = options.parts ? context->last_times() : RunTimes{0, ms(span.end - span.start), 0, ms(span.end - span.start)};
      spans.push_back(span);
      if (options.idle_ms > 0) std::this_thread::sleep_for(from_ms(options.idle_ms));
    }
    if (first_ms < 0 && !spans.empty()) first_ms = ms(spans[0].end - spans[0].start);
  }
};

Trace merge(const std::vector<Runner>& runners) {
  Trace trace;
  Clock::time_point begin = runners.front().begin, end = begin;
  for (const Runner& runner : runners) begin = std::min(begin, runner.begin);
  for (int stream = 0; const Runner& runner : runners) {
    trace.warmup_runs += runner.warmup_runs;
    trace.precompute_ms += ms(runner.early) / static_cast<double>(std::max<std::size_t>(runner.spans.size(), 1) * runners.size());
    for (const Span& s : runner.spans)
      trace.samples.push_back({ms(s.start - begin), ms(s.end - begin), s.parts, stream}), end = std::max(end, s.end);
    ++stream;
  }
  if (runners.size() > 1)
    std::sort(trace.samples.begin(), trace.samples.end(), [](const Sample& a, const Sample& b) { return a.start_ms < b.start_ms; });
  trace.wall_s = ms(end - begin) / 1e3;
  trace.first_ms = runners.front().first_ms;
  return trace;
}

}  // namespace

std::unique_ptr<ExecutionContext> make_context(const Engine& engine, const std::vector<Tensor>& inputs, const ContextOptions& options) {
  auto context = engine.create_context();
  context->wait_how(options.wait);
  context->replay_runs(options.graphs);
  if (options.ranges) context->mark_ranges(true);
  const auto expect = [&](Status status) {
    if (!status) throw Error(ErrorKind::invalid_argument, context->describe(status));
  };
  if (options.profile >= 0) expect(context->set_profile(options.profile));
  for (std::size_t b = 0; b < engine.bindings().size(); ++b) {
    const int index = static_cast<int>(b);
    const BindingInfo& info = engine.bindings()[b];
    if (binds_values(engine, index)) {
      if (!info.is_input) continue;
      if (binding_memory(engine, index).kind != ValueKind::tensor)
        throw Error(ErrorKind::unsupported, "input '" + info.name + "' is " + binding_type(engine, index) +
                                                ": exec makes tensors only; the C++ and Python interfaces bind such values");
      expect(bind_value(*context, index, inputs[b]));
      continue;
    }
    if (!info.is_input) {
      context->own_memory(index);
    } else if (inputs[b].defined()) {
      if (!context->set_input_shape(index, inputs[b].shape()))
        throw Error(ErrorKind::invalid_argument,
                    "input '" + info.name + "' has the shape " + text(info.shape) +
                        (std::count(info.shape.begin(), info.shape.end(), -1) ? " (-1: dynamic)" : "") + ", not " +
                        text(inputs[b].shape()));
      if (options.pinned && inputs[b].bytes() > 0)
        std::memcpy(context->own_memory(index), inputs[b].raw(), static_cast<std::size_t>(inputs[b].bytes()));
      else
        expect(context->bind(index, const_cast<void*>(inputs[b].raw()), inputs[b].bytes()));
    }
  }
  expect(context->prepare());
  return context;
}

void leave_on_device(const Engine& engine, ExecutionContext& context) {
  for (std::size_t b = 0; b < engine.bindings().size(); ++b) {
    const int index = static_cast<int>(b);
    if (binds_values(engine, index)) continue;
    std::int64_t elements = 1;
    for (const std::int64_t extent : context.shape(index)) elements *= extent;
    if (Status s = context.bind(index, context.device_memory(index), byte_size(engine.bindings()[b].dtype, elements)); !s)
      fail_run(context, s);
  }
  if (Status s = context.prepare(); !s) fail_run(context, s);
}

Trace measure(std::span<const std::unique_ptr<ExecutionContext>> contexts, const MeasureOptions& options) {
  std::vector<Runner> runners;
  for (const auto& context : contexts) runners.emplace_back().context = context.get();
  const Clock::time_point start = Clock::now();
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < runners.size(); ++i) others.emplace_back([&runners, &options, i] { runners[i].run(options); });
  runners[0].run(options);
  others.clear();
  for (const Runner& runner : runners)
    if (!runner.status) fail_run(*runner.context, runner.status);
  Trace trace = merge(runners);
  trace.warmup_ms = ms(runners[0].begin - start);
  return trace;
}

std::vector<LayerTimes> profile_layers(ExecutionContext& context, const MeasureOptions& options) {
  std::vector<LayerTimes> layers;
  std::size_t next = 0;  // where the next layer is expected
  context.set_step_timer([&](const StepTime& step) {
    std::size_t at = next;
    while (at < layers.size() && layers[at].name != step.name) ++at;  // a branch not taken leaves its layers out
    if (at == layers.size()) layers.push_back({std::string(step.name), {}, {}});
    layers[at].ms.push_back(step.ms), layers[at].start_ms.push_back(step.start_ms);
    next = at + 1;
  });
  const Clock::time_point until = Clock::now() + from_ms(std::min(options.duration_s, 1.0) * 1e3);
  for (int i = 0; i < options.iterations || Clock::now() < until; ++i) {
    next = 0;
    if (const Status status = context.run(); !status) fail_run(context, status);
  }
  context.set_step_timer({});
  return layers;
}

namespace {
// Tensors inside of sequences and maps, by their places.
void add_tensors(std::vector<std::pair<std::string, Tensor>>& to, const std::string& name, const RuntimeValue& value) {
  if (value.is_tensor()) return static_cast<void>(to.emplace_back(name, value.tensor()));
  if (value.is_sequence())
    for (std::size_t i = 0; i < value.elements().size(); ++i) add_tensors(to, name + "[" + std::to_string(i) + "]", value.elements()[i]);
  if (!value.is_map()) return;
  const Tensor& keys = value.as_map().keys;
  for (std::size_t i = 0; i < value.as_map().values.size(); ++i) {
    const bool words = keys.dtype() == DType::string;
    const std::string key = words ? keys.string_values()[i] : std::to_string(keys.as_int(static_cast<std::int64_t>(i)));
    add_tensors(to, name + "[" + key + "]", value.as_map().values[i]);
  }
}
}  // namespace

std::vector<std::pair<std::string, Tensor>> outputs_of(const Engine& engine, ExecutionContext& context) {
  std::vector<std::pair<std::string, Tensor>> outputs;
  for (std::size_t b = 0; b < engine.bindings().size(); ++b) {
    const BindingInfo& info = engine.bindings()[b];
    if (info.is_input) continue;
    if (binds_values(engine, static_cast<int>(b))) {
      add_tensors(outputs, info.name, bound_value(context, static_cast<int>(b)));
      continue;
    }
    Tensor t(info.dtype, context.shape(static_cast<int>(b)));
    if (t.bytes() > 0) std::memcpy(t.mutable_raw(), context.own_memory(static_cast<int>(b)), static_cast<std::size_t>(t.bytes()));
    outputs.emplace_back(info.name, std::move(t));
  }
  return outputs;
}

}  // namespace tenfold::cli
