// sweep() and infer(): windows are cut, predicted and blended, batch by batch, and band by band.
#include <cstring>

#include "base/check.h"
#include "base/log.h"
#include "sweep/device_engine.h"
#include "sweep/memory_image.h"
#include "sweep/predictor.h"
#include "sweep/several_devices.h"
#include "sweep/shared_sinks.h"
#include "sweep/slab.h"
#include "sweep/stitcher.h"
#include "sweep/turned.h"
#include "sweep/requested_parts.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold {
namespace {

using namespace imaging;

class Sweep {
 public:
  Sweep(const SlidingWindow& windows, ImageSource& source, Predictor& predictor, const MakeSink& sinks,
        const SweepOptions& options)
      : windows_(windows),
        own_(windows::WindowAccess::of(windows)),
        source_(source),
        shape_(source.shape()),
        predictor_(predictor),
        sinks_(sinks),
        options_(options),
        outputs_(own_, shape_[0], options.stitch),
        pool_(windows::make_parallel(options.stitch.threads, predictor.batch() * shape_[1] * element_count(own_.roi))) {
    windows::check_image_type(source.dtype(), predictor.dtype());
  }

  void run() {
    const std::vector<Part> parts = parts_of_results();
    for (const Part& part : parts) total_ += batches(part).total();
    log_bands(own_.grid, outputs_, options_, parts);
    for (const Part& part : parts) run(part);
  }

 private:
  Batches batches(const Part& part) const {
    return {own_.grid, part, shape_[0], predictor_.batch(), source_.memory() != nullptr};
  }
  std::vector<Part> parts_of_results();
  std::vector<Shape> output_shapes();
  void run(const Part& part);

  const SlidingWindow& windows_;
  const windows::WindowState& own_;
  ImageSource& source_;
  Shape shape_;
  Predictor& predictor_;
  SharedSinks sinks_;
  const SweepOptions& options_;
  OutputOptions outputs_;
  std::unique_ptr<Parallel> pool_;
  std::int64_t done_ = 0, total_ = 0;   // windows
};

std::vector<Part> Sweep::parts_of_results() {
  return requested_parts(own_, outputs_, options_, [&] {
    const std::int64_t chunk = source_.memory() != nullptr ? 0 : source_.chunk();
    return SweepShape{own_,  outputs_,           output_shapes(),  shape_[1], source_.dtype(), predictor_.dtype(),
                      chunk, source_.overhead(), predictor_.batch()};
  });
}

// [channel, roi...] of each output of a window.
std::vector<Shape> Sweep::output_shapes() {
  const std::int64_t bytes = byte_size(predictor_.dtype(), shape_[1] * element_count(own_.roi));
  std::memset(predictor_.windows(), 0, static_cast<std::size_t>(bytes));
  std::vector<Shape> shapes;
  for (const Tensor& one : predictor_.run(1, 0)) {
    require(one.shape().size() == own_.image.size() + 2, ErrorKind::invalid_argument, "output ", shapes.size(), " is [",
            text(one.shape()), "], expected [windows, channel, ", own_.image.size(), " spatial axes]");
    shapes.emplace_back(one.shape().begin() + 1, one.shape().end());
  }
  return shapes;
}

void Sweep::run(const Part& part) {
  const Batches batches = this->batches(part);
  Slab slab(own_, source_, batches, image_rows(own_.grid, part));
  const windows::Cutter cutter = slab.in_place() ? own_.cutter : own_.cutter.on(batches.grid());
  Stitcher stitcher(windows_, outputs_, part, [&](std::size_t output) { return sinks_.sink(output); },
                    options_.stitch.threads);
  const std::int64_t per_image = batches.per_image();
  for (std::int64_t first = 0; first < batches.total();) {
    throw_if_cancelled();
    const std::int64_t count = batches.count(first);
    const Range planes = batches.planes(first, count);
    slab.need(first / per_image, planes.begin, planes.end);
    std::vector<windows::Cutter::Cut> cuts;
    for (std::int64_t w = first; w < first + count; ++w)
      cuts.push_back(
          {slab.view(w / per_image), slab.in_place() ? batches.number(w) % windows_.count() : w % per_image});
    cutter.cut(cuts, predictor_.dtype(), predictor_.windows(), *pool_);
    stitcher.add(predictor_.run(count, batches.number(first)), {});
    first += count, done_ += count;
    require(!options_.progress || options_.progress(done_, total_), ErrorKind::cancelled,
            "the caller stopped the sweep after ", done_, " of ", total_, " windows");
  }
  stitcher.finish();
  if (options_.seconds == nullptr) return;
  options_.seconds->reading += slab.seconds().reading, options_.seconds->waiting += slab.seconds().waiting;
}

void check_source(const SlidingWindow& windows, const ImageSource& source) {
  windows::check_images(windows::WindowAccess::of(windows), source.shape());
}

void run(const SlidingWindow& windows, ImageSource& source, Predictor& predictor, const MakeSink& sinks,
         const SweepOptions& options) {
  const AxisOrder order = sweep_order(windows, options);
  if (options.axis == 0) return Sweep(windows, source, predictor, sinks, options).run();
  const SlidingWindow moved = turned(windows, order);
  Shape window = {source.shape()[1]};
  window.insert(window.end(), moved.roi().begin(), moved.roi().end());
  const std::unique_ptr<Parallel> pool =
      windows::make_parallel(options.stitch.threads, predictor.batch() * element_count(window));
  TurnedSource turned_source(source, order);
  TurnedPredictor turned_predictor(predictor, order, window, *pool);
  const MakeSink turned_sinks = [&](std::size_t output) { return std::make_shared<TurnedSink>(sinks(output), order); };
  const SweepOptions turned_options = turned(options, order);
  Sweep(moved, turned_source, turned_predictor, turned_sinks, turned_options).run();
}

// Images in memory to tensors, by any form of sweep().
template <class Go>
std::vector<Tensor> in_memory(const Tensor& images, Go go) {
  MemorySource source(images);
  std::vector<std::shared_ptr<MemorySink>> sinks;
  go(source, [&](std::size_t) { return sinks.emplace_back(std::make_shared<MemorySink>()); });
  std::vector<Tensor> outputs;
  for (const std::shared_ptr<MemorySink>& sink : sinks) outputs.push_back(sink->images());
  return outputs;
}

}  // namespace

void sweep(const SlidingWindow& windows, ImageSource& source, const WindowPredictor& predict, const MakeSink& sinks,
           const SweepOptions& options) {
  check_source(windows, source);
  run(windows, source, *function_predictor(windows, source.shape()[1], predict, options), sinks, options);
}

void sweep(const SlidingWindow& windows, ImageSource& source, const Engine& engine, const MakeSink& sinks,
           const SweepOptions& options) {
  check_source(windows, source);
  auto context = std::make_unique<WindowEngine>(windows, source.shape()[1], engine, options.window_batch);
  if (WindowEngine* const one = context.get();
      options.stay_on_gpu && sweep_on_device(windows, source, {&engine, 1}, {&one, 1}, sinks, options))
    return;
  run(windows, source, *engine_predictor(std::move(context)), sinks, options);
}

void sweep(const SlidingWindow& windows, ImageSource& source, std::span<const Engine> engines, const MakeSink& sinks,
           const SweepOptions& options) {
  if (engines.size() == 1) return sweep(windows, source, engines[0], sinks, options);
  check_source(windows, source);
  if (options.several == SeveralEngines::devices && !engines.empty())
    return sweep_on_devices(windows, source, engines, sinks, options,
                            [&](ImageSource& from, const Engine& engine, const MakeSink& to, const SweepOptions& with) {
                              sweep(windows, from, engine, to, with);
                            });
  std::vector<std::unique_ptr<WindowEngine>> members =
      ensemble_engines(windows, source.shape()[1], engines, options);
  std::vector<WindowEngine*> contexts;
  for (const std::unique_ptr<WindowEngine>& one : members) contexts.push_back(one.get());
  if (options.stay_on_gpu && sweep_on_device(windows, source, engines, contexts, sinks, options)) return;
  const std::unique_ptr<Predictor> predictor =
      ensemble_predictor(windows, source.shape()[1], std::move(members), options);
  run(windows, source, *predictor, sinks, options);
}

std::vector<Tensor> infer(const SlidingWindow& windows, const Tensor& images, const WindowPredictor& predict,
                          const SweepOptions& options) {
  return in_memory(
      images, [&](ImageSource& source, const MakeSink& sinks) { sweep(windows, source, predict, sinks, options); });
}

std::vector<Tensor> infer(const SlidingWindow& windows, const Tensor& images, const Engine& engine,
                          const SweepOptions& options) {
  return in_memory(images,
                   [&](ImageSource& source, const MakeSink& sinks) { sweep(windows, source, engine, sinks, options); });
}

std::vector<Tensor> infer(const SlidingWindow& windows, const Tensor& images, std::span<const Engine> engines,
                          const SweepOptions& options) {
  return in_memory(
      images, [&](ImageSource& source, const MakeSink& sinks) { sweep(windows, source, engines, sinks, options); });
}

}  // namespace tenfold
