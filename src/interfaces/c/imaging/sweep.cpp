// Sweeps from C: sources and predictors that are the caller's functions.
#include "c/imaging/imaging.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_predictions {
  std::vector<Tensor> outputs;
};

namespace {

class FunctionSource final : public ImageSource {
 public:
  explicit FunctionSource(const tenfold_image_source* given)
      : source_(taken(given, "the source")), shape_(shape_of(source_.shape, source_.rank)), dtype_(dtype_of(source_.dtype)) {
    require(source_.memory != nullptr || source_.read != nullptr, ErrorKind::invalid_argument,
            "the source has neither memory nor a function to read it");
    for (std::size_t a = 0; source_.chunks && a + 2 < shape_.size(); ++a)
      require(source_.chunks[a] > 0, ErrorKind::invalid_argument, "the source's chunk along axis ", a, " is ", source_.chunks[a],
              ", at least 1 was expected");
    require(source_.chunk >= 0, ErrorKind::invalid_argument, "the source's chunk is ", source_.chunk, ", at least 1 was expected");
    require(source_.overhead >= 0, ErrorKind::invalid_argument, "the source's overhead is ", source_.overhead,
            ", at least 0 was expected");
  }
  Shape shape() const override { return shape_; }
  DType dtype() const override { return dtype_; }
  std::int64_t chunk() const override { return source_.chunks ? source_.chunks[0] : source_.chunk == 0 ? 1 : source_.chunk; }
  std::int64_t chunk_along(std::size_t axis) const override {
    return source_.chunks ? source_.chunks[axis] : axis == 0 ? chunk() : 1;
  }
  const void* memory() const override { return source_.memory; }
  double overhead() const override { return source_.overhead; }
  const void* gpu_memory() const override { return source_.gpu_memory; }
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent, void* to) override {
    const tenfold_status status = source_.read(source_.user, image, begin.data(), extent.data(), to);
    require(status == TENFOLD_OK, kind_of(status), "reading image ", image, " from plane ", begin[0], " gave the status ", status);
  }

 private:
  tenfold_image_source source_;
  Shape shape_;
  DType dtype_;
};

WindowPredictor function_of(const tenfold_window_predictor& predictor) {
  require(predictor.predict != nullptr, ErrorKind::invalid_argument, "the predictor has neither engines nor a function");
  return [predictor](const Tensor& windows, std::int64_t first) {
    const tenfold_tensor_info info{sizeof info, name(windows.dtype()).data(), windows.shape().data(),
                                   static_cast<std::int32_t>(windows.rank()), windows.raw(),
                                   static_cast<std::size_t>(windows.bytes())};
    tenfold_predictions predictions;
    const tenfold_status status = predictor.predict(predictor.user, &info, first, &predictions);
    require(status == TENFOLD_OK, kind_of(status), "the predictor gave the status ", status, " for the windows from ", first);
    return std::move(predictions.outputs);
  };
}

// `go` with a function, or with engines.
template <class Go>
void with_predictor(const tenfold_window_predictor* given, Go go) {
  const auto predictor = taken(given, "the predictor");
  if (predictor.engine_count == 0) return go(function_of(predictor));
  require(predictor.engine_count > 0 && predictor.engines, ErrorKind::invalid_argument, "the predictor has ", predictor.engine_count,
          " engines at ", predictor.engines ? "its pointer" : "null");
  std::vector<Engine> engines;
  for (std::int32_t i = 0; i < predictor.engine_count; ++i)
    engines.push_back(need(predictor.engines[i], "an engine of the predictor").engine);
  go(std::span<const Engine>(engines));
}

}  // namespace

SweepOptions tenfold::c::sweep_options_of(const tenfold_sweep_options* given) {
  SweepOptions options;
  if (!given) return options;
  const auto c = taken(given, "the sweep's options");
  options.stitch = stitch_options_of(c.stitch);
  if (c.window_batch != 0) options.window_batch = c.window_batch;
  if (c.input) options.input = dtype_of(c.input);
  if (c.progress)
    options.progress = [progress = c.progress, user = c.progress_user](std::int64_t done, std::int64_t total) {
      return progress(user, done, total) != 0;
    };
  options.memory = c.memory;
  options.first_plane = c.first_plane, options.first_row = c.first_row, options.end_row = c.end_row;
  options.log = log_of(c.log, c.log_user);
  options.stay_on_gpu = c.on_host == 0;
  options.axis = c.axis;
  options.several = c.devices != 0 ? SeveralEngines::devices : SeveralEngines::mean;
  return options;
}

extern "C" tenfold_status tenfold_predictions_add(tenfold_predictions* predictions, const tenfold_tensor_info* output) {
  return guarded([&] {
    std::vector<Tensor>& outputs = need(predictions, "the predictions").outputs;
    outputs.push_back(borrowed(need(output, "the output"), cat("output ", outputs.size(), " of the predictor")));
  });
}
extern "C" tenfold_status tenfold_sweep(const tenfold_sliding_window* windows, const tenfold_image_source* source,
                                        const tenfold_window_predictor* predictor, const tenfold_image_sinks* sinks,
                                        const tenfold_sweep_options* options) {
  return guarded([&] {
    const SlidingWindow& own = need(windows, "the windows").windows;
    FunctionSource images(source);
    SweepOptions all = sweep_options_of(options);
    SweepSeconds seconds;
    all.seconds = &seconds;
    with_predictor(predictor, [&](const auto& with) { sweep(own, images, with, sinks_of(sinks), all); });
    if (!options) return;
    if (tenfold_sweep_seconds* const to = taken(options, "the sweep's options").seconds)
      to->reading += seconds.reading, to->waiting += seconds.waiting;
  });
}
extern "C" tenfold_status tenfold_infer(const tenfold_sliding_window* windows, const tenfold_data* images,
                                        const tenfold_window_predictor* predictor, const tenfold_sweep_options* options,
                                        tenfold_data** outputs, int32_t* count) {
  return guarded([&] {
    const SlidingWindow& own = need(windows, "the windows").windows;
    const Tensor& tensor = need(images, "the images").value.tensor();
    const std::int32_t room = need(count, "the place for the count");
    require(room >= 0 && (room == 0 || outputs), ErrorKind::invalid_argument, "there is no place for the outputs");
    std::vector<Tensor> results;
    with_predictor(predictor, [&](const auto& with) { results = infer(own, tensor, with, sweep_options_of(options)); });
    std::vector<std::unique_ptr<tenfold_data>> made;
    for (std::size_t i = 0; i < results.size() && i < static_cast<std::size_t>(room); ++i)
      made.push_back(std::make_unique<tenfold_data>(tenfold_data{results[i]}));
    for (std::size_t i = 0; i < made.size(); ++i) outputs[i] = made[i].release();
    *count = static_cast<std::int32_t>(results.size());
  });
}
