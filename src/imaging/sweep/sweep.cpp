// sweep() and infer(): windows are cut, predicted and blended, batch by batch.
#include "base/check.h"
#include "sweep/memory_image.h"
#include "sweep/predictor.h"
#include "sweep/slab.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold {
namespace {

using imaging::MemorySink;
using imaging::MemorySource;
using imaging::Predictor;
using imaging::Slab;

// What some windows need of the first axis of an image: [begin, end).
struct Planes { std::int64_t begin, end; };

// The next batch: windows of one image, unless the source lies in memory.
struct Batches {
  const windows::WindowState& windows;
  std::int64_t per_image, total, batch;
  bool across_images;

  std::int64_t count(std::int64_t first) const {
    const std::int64_t left = across_images ? total - first : per_image - first % per_image;
    return std::min(batch, left);
  }
  Planes planes(std::int64_t first, std::int64_t count) const {
    const windows::Axis& axis = windows.grid[0];
    if (axis.padded > axis.image) return {0, axis.image};
    const std::int64_t group = per_image / static_cast<std::int64_t>(axis.starts.size());
    const auto start = [&](std::int64_t window) {
      return axis.starts[static_cast<std::size_t>(window % per_image / group)];
    };
    return {start(first), start(first + count - 1) + axis.roi};
  }
  std::int64_t max_planes() const {
    std::int64_t most = 0;
    for (std::int64_t first = 0; first < per_image; first += count(first)) {
      const Planes needed = planes(first, count(first));
      most = std::max(most, needed.end - needed.begin);
    }
    return most;
  }
};

void run(const SlidingWindow& windows, ImageSource& source, Predictor& predictor, const MakeSink& sinks,
         const SweepOptions& options) {
  const Shape shape = source.shape();
  const windows::WindowState& own = windows::WindowAccess::of(windows);
  const Batches batches{own, windows.count(), windows.count() * shape[0], predictor.batch(),
                        source.memory() != nullptr};
  windows::check_image_type(source.dtype(), predictor.dtype());
  Slab slab(windows, source, batches.max_planes());
  WindowStitcher stitcher(windows, shape[0], sinks, options.stitch);
  const std::unique_ptr<Parallel> pool =
      windows::make_parallel(options.stitch.threads, predictor.batch() * shape[1] * element_count(own.roi));
  for (std::int64_t first = 0; first < batches.total;) {
    throw_if_cancelled();
    const std::int64_t count = batches.count(first), per_image = batches.per_image;
    const Planes planes = batches.planes(first, count);
    slab.need(first / per_image, planes.begin, planes.end);
    std::vector<windows::Cutter::Cut> cuts;
    for (std::int64_t w = first; w < first + count; ++w) cuts.push_back({slab.view(w / per_image), w % per_image});
    own.cutter.cut(cuts, predictor.dtype(), predictor.windows(), *pool);
    stitcher.add(predictor.run(count, first));
    first += count;
    require(!options.progress || options.progress(first, batches.total), ErrorKind::cancelled,
            "the caller stopped the sweep after ", first, " of ", batches.total, " windows");
  }
  stitcher.finish();
}

void check_source(const SlidingWindow& windows, const ImageSource& source) {
  windows::check_images(windows::WindowAccess::of(windows), source.shape());
}

// Images in memory to tensors, by any form of sweep().
template <class Sweep>
std::vector<Tensor> in_memory(const Tensor& images, Sweep go) {
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
  run(windows, source, *imaging::function_predictor(windows, source.shape()[1], predict, options), sinks, options);
}

void sweep(const SlidingWindow& windows, ImageSource& source, const Engine& engine, const MakeSink& sinks,
           const SweepOptions& options) {
  check_source(windows, source);
  run(windows, source, *imaging::engine_predictor(windows, source.shape()[1], engine, options), sinks, options);
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

}  // namespace tenfold
