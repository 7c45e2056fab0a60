// Batch by batch: planes are copied on one stream, windows are cut, computed, added and finished on another.
#include "device/device_sweep.h"

#include <algorithm>
#include <deque>

#include "base/check.h"
#include "device/device_slab.h"
#include "device/device_sums.h"
#include "parts/batches.h"
#include "tenfold/internal/interrupts.h"
#include "windows/weights.h"

namespace tenfold::imaging {
namespace {

// Batches that the host is ahead of the GPU: so many that it does not wait while planes of the next ones are copied.
constexpr std::size_t kAhead = 32;

}  // namespace

bool sweeps_on_device(DType images, const DevicePredictor& predictor, std::string& why) {
  const auto knows = [&](DType dtype, const char* what) {
    if (has_window_type(dtype)) return true;
    why = cat("it has no kernels for ", what, " of ", name(dtype));
    return false;
  };
  bool all = knows(images, "images");
  for (const DevicePredictor::Input& input : predictor.inputs()) all = all && knows(input.dtype, "windows");
  for (const DevicePredictor::Output& output : predictor.outputs()) all = all && knows(output.dtype, "results");
  return all;
}

struct DeviceSweep::Impl {
  Impl(const DeviceSweep& sweep, const Part& part_)
      : work(sweep.work_),
        windows(sweep.windows_),
        own(windows::WindowAccess::of(windows)),
        predictor(sweep.predictor_),
        options(sweep.options_),
        images(sweep.source_.shape()[0]),
        outputs(own, images, options.stitch),
        part(part_),
        batches(own.grid, part, images, predictor.batch(), false),
        kernels(work),
        copies(work.make_stream()),
        computing(work.make_stream()),
        pool(windows::make_parallel(options.stitch.threads, element_count(sweep.source_.shape()))),
        slab(work, windows, sweep.source_, batches, image_rows(own.grid, part), copies.get(), *pool),
        copied(work.make_event()),
        cut(work.make_event()) {
    // A batch that is not full is computed whole: zeros are what an index of a network bears.
    for (const DevicePredictor::Input& input : predictor.inputs())
      work.fill(input.memory, 0, input.windows * window_bytes(input), computing.get());
    make_sums();
    for (std::size_t i = 0; i < kAhead; ++i) ends.push_back(work.make_event());
  }

  ~Impl() { drain(); }   // where a source or sink threw, before memory ends

  void drain() noexcept;
  void make_sums();
  // `done` windows of `total` were computed for parts before.
  void run(const std::vector<std::shared_ptr<ImageSink>>& sinks, bool opened, std::int64_t done, std::int64_t total);
  std::int64_t window_bytes(const DevicePredictor::Input& input) const {
    return byte_size(input.dtype, own.cutter.window_elements()) * slab.channels();
  }
  void enqueue(std::int64_t first, std::int64_t count);
  void add(std::int64_t first, std::int64_t count);
  void report(std::int64_t done, std::int64_t total) const {
    require(!options.progress || options.progress(done, total), ErrorKind::cancelled,
            "the caller stopped the sweep after ", done, " of ", total, " windows");
  }

  DeviceWork& work;
  SlidingWindow windows;
  const windows::WindowState& own;
  DevicePredictor& predictor;
  const SweepOptions& options;
  std::int64_t images;
  OutputOptions outputs;
  Part part;
  Batches batches;
  WindowKernels kernels;
  std::shared_ptr<void> copies, computing;
  std::unique_ptr<Parallel> pool;
  DeviceSlab slab;
  std::shared_ptr<void> copied, cut;
  std::vector<std::shared_ptr<void>> ends;       // of batches
  std::vector<std::unique_ptr<DeviceSums>> sums;   // by output
  std::unique_ptr<Outbox> outbox;
};

void DeviceSweep::Impl::drain() noexcept {
  try {
    for (void* const stream : {copies.get(), computing.get()}) work.record(cut.get(), stream), work.wait(cut.get());
  } catch (const Error&) {   // the GPU is lost: nothing runs there
  }
}

void DeviceSweep::Impl::make_sums() {
  std::vector<Shape> rois;
  for (const DevicePredictor::Output& one : predictor.outputs()) rois.emplace_back(one.window.begin() + 1, one.window.end());
  const std::vector<std::vector<float>> weights = windows::weights_of_outputs(own.weights, own.roi, rois);
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < rois.size(); ++i) {
    const DevicePredictor::Output& output = predictor.outputs()[i];
    sums.push_back(std::make_unique<DeviceSums>(work, kernels, output_part(own.grid, outputs, output.window, part),
                                                output, weights[i], outputs.how, computing.get(), *pool));
    largest = std::max(largest, sums.back()->plane_bytes());
  }
  outbox = std::make_unique<Outbox>(work, std::max(largest, kPieceBytes));
}

// Windows that follow each other on the last axis are added at once.
void DeviceSweep::Impl::add(std::int64_t first, std::int64_t count) {
  const std::int64_t image = first / batches.per_image();
  const windows::Grid& grid = batches.grid();
  const auto rows = static_cast<std::int64_t>(grid[0].starts.size()), group = batches.per_image() / rows;
  const std::int64_t line = std::min<std::int64_t>(static_cast<std::int64_t>(grid.back().starts.size()), group);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const DevicePredictor::Output& output = predictor.outputs()[i];
    const std::int64_t bytes = byte_size(output.dtype, element_count(output.window));
    for (std::int64_t w = 0; w < count;) {
      const std::int64_t window = (first + w) % batches.per_image(), row = window / group;
      const std::int64_t some = std::min({count - w, line - window % line, sums[i]->max_windows()});
      sums[i]->add(static_cast<const std::byte*>(output.memory) + w * bytes, windows::indices(grid, window), some);
      w += some;
      if ((window + some) % group != 0) continue;
      const windows::OutputAxis& axis = sums[i]->axes()[0];
      sums[i]->flush(*outbox, image, row + 1 == rows ? axis.padded : axis.starts[static_cast<std::size_t>(row) + 1]);
    }
  }
}

void DeviceSweep::Impl::enqueue(std::int64_t first, std::int64_t count) {
  const Range planes = batches.planes(first, count);
  void* const stream = computing.get();
  work.follow(copies.get(), cut.get());   // whose planes may be written over
  if (slab.need(first / batches.per_image(), planes.begin, planes.end)) work.record(copied.get(), copies.get());
  work.follow(stream, copied.get());
  for (const DevicePredictor::Input& input : predictor.inputs())
    for (std::int64_t w = 0; w < count; w += kWindowsOfACut)
      slab.cut(kernels, first + w, std::min<std::int64_t>(count - w, kWindowsOfACut), input,
               static_cast<std::byte*>(input.memory) + w * window_bytes(input), stream);
  work.record(cut.get(), stream);
  predictor.enqueue(stream);
  add(first, count);
}

void DeviceSweep::Impl::run(const std::vector<std::shared_ptr<ImageSink>>& sinks, bool opened, std::int64_t done,
                            std::int64_t total) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i]->open(sinks[i], images, opened);
  std::deque<std::int64_t> under_way;   // windows up to the end of each batch
  std::size_t at = 0;
  for (std::int64_t first = 0; first < batches.total();) {
    throw_if_cancelled();
    if (under_way.size() == kAhead) {
      work.wait(ends[at].get());
      report(done + under_way.front(), total);
      under_way.pop_front();
    }
    const std::int64_t count = batches.count(first);
    enqueue(first, count);
    work.record(ends[at].get(), computing.get());
    at = (at + 1) % kAhead;
    first += count;
    under_way.push_back(first);
  }
  predictor.finish();
  outbox->finish();
  for (const std::unique_ptr<DeviceSums>& one : sums) one->check_divisors();
  report(done + batches.total(), total);
}

DeviceSweep::DeviceSweep(DeviceWork& work, const SlidingWindow& windows, ImageSource& source,
                         DevicePredictor& predictor, std::vector<Part> parts, const SweepOptions& options)
    : work_(work),
      windows_(windows),
      source_(source),
      predictor_(predictor),
      parts_(std::move(parts)),
      options_(options) {
  for (std::size_t i = parts_.size(); i-- > 0;) impl_.reset(), impl_ = begin(parts_[i]);   // the first one stays
}
DeviceSweep::~DeviceSweep() = default;

std::unique_ptr<DeviceSweep::Impl> DeviceSweep::begin(const Part& part) const {
  return std::make_unique<Impl>(*this, part);
}

void DeviceSweep::run(const MakeSink& make_sink) {
  std::vector<std::shared_ptr<ImageSink>> sinks;
  for (std::size_t i = 0; i < predictor_.outputs().size(); ++i) sinks.push_back(make_sink(i));
  std::int64_t done = 0, total = 0;
  const auto windows_of = [&](const Part& part) {
    return Batches(windows::WindowAccess::of(windows_).grid, part, source_.shape()[0], 1, false).total();
  };
  for (const Part& part : parts_) total += windows_of(part);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (i > 0) impl_.reset(), impl_ = begin(parts_[i]);
    impl_->run(sinks, i > 0, done, total);
    done += windows_of(parts_[i]);
  }
}

}  // namespace tenfold::imaging
