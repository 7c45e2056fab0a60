// An engine on a GPU as predictor of windows that lie there.
#include "sweep/device_engine.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "device/device_ensemble.h"
#include "sweep/device_run.h"
#include "tenfold/device_array.h"
#include "tenfold/internal/idle_contexts.h"

namespace tenfold::imaging {
namespace {

class DeviceEngine final : public DevicePredictor {
 public:
  DeviceEngine(WindowEngine& engine, const AxisOrder& order) : engine_(engine) {
    input_ = {bind(engine_.input_number()), engine_.input().dtype,
              strides_in_order(engine_.context().shape(engine_.input_number()), order), engine_.batch()};
    for (const int output : engine_.outputs()) {
      Shape shape = engine_.output_shape(output);
      shape.erase(shape.begin());
      require(shape.size() == order.size() + 1, ErrorKind::unsupported, "output '", engine_.binding(output).name,
              "' has other axes than windows");
      outputs_.push_back(
          {bind(output), engine_.binding(output).dtype, turned(shape, order), strides_in_order(shape, order)});
    }
    engine_.check(engine_.context().prepare());
  }
  std::int64_t batch() const override { return engine_.batch(); }
  std::vector<Input> inputs() const override { return {input_}; }
  const std::vector<Output>& outputs() const override { return outputs_; }
  void enqueue(void* stream) override { engine_.check(engine_.context().enqueue(stream)); }
  void finish() override { engine_.check(engine_.context().wait()); }

 private:
  // The place of a binding on the GPU, bound, so that nothing is copied.
  void* bind(int number) {
    ExecutionContext& context = engine_.context();
    void* const memory = context.device_memory(number);
    const std::int64_t bytes = byte_size(engine_.binding(number).dtype, element_count(context.shape(number)));
    engine_.check(context.bind(number, memory, bytes));
    return memory;
  }

  WindowEngine& engine_;
  Input input_;
  std::vector<Output> outputs_;
};

// What keeps results from staying on the GPU; empty: nothing.
std::string why_not(std::span<const Engine> engines, std::span<WindowEngine* const> contexts) {
  for (const Engine& one : engines)
    if (device_of(one) != device_of(engines[0])) return "engines are on several devices";
  for (const WindowEngine* const engine : contexts)
    for (const int output : engine->outputs())
      for (const std::int64_t extent : engine->context().shape(output))
        if (extent < 0) return cat("the size of output '", engine->binding(output).name, "' is known after a run only");
  return {};
}

struct OnDevice {
  std::unique_ptr<DeviceWork> work;
  std::unique_ptr<DevicePredictor> predictor;
  std::unique_ptr<DeviceRun> run;   // null: `why` says so
  std::string why;

  void begin(const SlidingWindow& windows, ImageSource& source, std::span<WindowEngine* const> contexts,
             const SweepOptions& options) {
    run.reset(), predictor.reset();
    const AxisOrder order = sweep_order(windows, options);
    std::vector<std::unique_ptr<DevicePredictor>> members;
    for (WindowEngine* const engine : contexts) members.push_back(std::make_unique<DeviceEngine>(*engine, order));
    if (members.size() == 1) predictor = std::move(members[0]);
    else predictor = std::make_unique<DeviceEnsemble>(*work, std::move(members));
    if (sweeps_on_device(source.dtype(), *predictor, why))
      run = std::make_unique<DeviceRun>(*work, windows, source, *predictor, options);
  }
};

}  // namespace

bool sweep_on_device(const SlidingWindow& windows, ImageSource& source, std::span<const Engine> engines,
                     std::span<WindowEngine* const> contexts, const MakeSink& sinks, const SweepOptions& options) {
  if (std::none_of(engines.begin(), engines.end(), [](const Engine& e) { return e.info().on_gpu; })) return false;
  OnDevice sweep;
  sweep.why = why_not(engines, contexts);
  if (sweep.why.empty()) try {
      sweep.work = open_device_work(device_of(engines[0]));
      try {
        sweep.begin(windows, source, contexts, options);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::out_of_memory || !drop_idle_contexts()) throw;
        sweep.begin(windows, source, contexts, options);
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory && error.kind() != ErrorKind::unsupported) throw;
      sweep.why = error.what();
    }
  if (sweep.run) return sweep.run->run(sinks), true;
  Log(options.log)(Severity::warning, kOnHost, sweep.why);
  return false;
}

}  // namespace tenfold::imaging
