// An engine on a GPU as predictor of windows that lie there.
#include "sweep/device_engine.h"

#include "base/check.h"
#include "base/log.h"
#include "tenfold/device_array.h"
#include "tenfold/internal/idle_contexts.h"

namespace tenfold::imaging {
namespace {

class DeviceEngine final : public DevicePredictor {
 public:
  explicit DeviceEngine(WindowEngine& engine) : engine_(engine) {
    input_ = bind(engine_.input_number());
    for (const int output : engine_.outputs()) {
      Shape shape = engine_.output_shape(output);
      shape.erase(shape.begin());
      outputs_.push_back({bind(output), engine_.binding(output).dtype, shape});
    }
    engine_.check(engine_.context().prepare());
  }
  std::int64_t batch() const override { return engine_.batch(); }
  DType dtype() const override { return engine_.input().dtype; }
  void* windows() override { return input_; }
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
  void* input_ = nullptr;
  std::vector<Output> outputs_;
};

// What keeps results from staying on the GPU; empty: nothing.
std::string why_not(const WindowEngine& engine, const SweepOptions& options) {
  if (!options.stitch.grid.empty()) return "results are resampled to another grid";
  if (options.axis != 0) return "slabs pass along another axis than the first";
  if (options.memory > 0) return "its memory is bounded";
  if (options.first_plane > 0 || options.first_row > 0 || options.end_row > 0) return "a part of the results is wanted";
  for (const int output : engine.outputs()) {
    const Shape shape = engine.context().shape(output);
    for (const std::int64_t extent : shape)
      if (extent < 0) return cat("the size of output '", engine.binding(output).name, "' is known after a run only");
  }
  return {};
}

}  // namespace

bool sweep_on_device(const SlidingWindow& windows, ImageSource& source, const Engine& engine, WindowEngine& context,
                     const MakeSink& sinks, const SweepOptions& options) {
  std::string why = why_not(context, options);
  std::unique_ptr<DeviceWork> work;
  std::unique_ptr<DeviceEngine> predictor;
  std::unique_ptr<DeviceSweep> sweep;
  const auto begin = [&] {
    predictor = std::make_unique<DeviceEngine>(context);
    if (sweeps_on_device(source.dtype(), *predictor))
      sweep = std::make_unique<DeviceSweep>(*work, windows, source, *predictor, options);
    else
      why = cat("it has no kernels for images of ", name(source.dtype()), " and windows of ", name(predictor->dtype()));
  };
  if (why.empty()) try {
      work = open_device_work(device_of(engine));
      try {
        begin();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::out_of_memory || !drop_idle_contexts()) throw;
        begin();
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory && error.kind() != ErrorKind::unsupported) throw;
      why = error.what();
    }
  if (sweep) return sweep->run(sinks), true;
  Log(options.log)(Severity::warning, kOnHost, why);
  return false;
}

}  // namespace tenfold::imaging
