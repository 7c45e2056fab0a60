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

std::vector<windows::OutputAxis> output_axes(const windows::Grid& grid, const Shape& window) {
  const std::size_t lifted = grid.size() + 1 - window.size();   // `window` has channels in front
  std::vector<windows::OutputAxis> axes;
  for (std::size_t a = 0; a < grid.size(); ++a)
    axes.push_back(windows::output_axis(grid[a], a < lifted ? 1 : window[1 + a - lifted]));
  return axes;
}

}  // namespace

bool sweeps_on_device(DType images, const DevicePredictor& predictor) {
  return has_window_type(images) && has_window_type(predictor.dtype()) &&
         std::all_of(predictor.outputs().begin(), predictor.outputs().end(),
                     [](const DevicePredictor::Output& output) { return has_window_type(output.dtype); });
}

struct DeviceSweep::Impl {
  Impl(DeviceWork& work_, const SlidingWindow& windows_, ImageSource& source_, DevicePredictor& predictor_,
       const SweepOptions& options_)
      : work(work_),
        windows(windows_),
        own(windows::WindowAccess::of(windows_)),
        predictor(predictor_),
        options(options_),
        images(source_.shape()[0]),
        outputs(own, images, options.stitch),
        batches(own.grid, whole_part(own.grid, outputs), images, predictor.batch(), false),
        kernels(work),
        copies(work.make_stream()),
        computing(work.make_stream()),
        pool(windows::make_parallel(options.stitch.threads, element_count(source_.shape()))),
        slab(work, windows, source_, batches.max_planes(), copies.get(), *pool),
        copied(work.make_event()),
        cut(work.make_event()) {
    // A batch that is not full is computed whole: zeros are what an index of a network bears.
    const std::int64_t bytes = byte_size(predictor.dtype(), own.cutter.window_elements() * slab.channels());
    work.fill(predictor.windows(), 0, predictor.batch() * bytes, computing.get());
    make_sums();
    for (std::size_t i = 0; i < kAhead; ++i) ends.push_back(work.make_event());
  }

  ~Impl() { drain(); }   // where a source or sink threw, before memory ends

  void drain() noexcept;
  void make_sums();
  void run(const MakeSink& make_sink);
  void enqueue(std::int64_t first, std::int64_t count);
  void add(std::int64_t first, std::int64_t count);
  void report(std::int64_t done) const {
    require(!options.progress || options.progress(done, batches.total()), ErrorKind::cancelled,
            "the caller stopped the sweep after ", done, " of ", batches.total(), " windows");
  }

  DeviceWork& work;
  SlidingWindow windows;
  const windows::WindowState& own;
  DevicePredictor& predictor;
  const SweepOptions& options;
  std::int64_t images;
  OutputOptions outputs;
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

// Weights of another resolution come from those of the output before that was resized, as MONAI has it.
void DeviceSweep::Impl::make_sums() {
  std::vector<float> weights = own.weights;
  Shape roi = own.roi;
  std::int64_t largest = 0;
  for (const DevicePredictor::Output& output : predictor.outputs()) {
    const Shape window(output.window.begin() + 1, output.window.end());
    if (!weights.empty() && window != own.roi) weights = windows::resize_weights(weights, roi, window), roi = window;
    sums.push_back(std::make_unique<DeviceSums>(work, kernels, output_axes(own.grid, output.window), output.window[0],
                                                output.dtype, window == own.roi ? own.weights : weights,
                                                outputs.how, computing.get(), *pool));
    largest = std::max(largest, sums.back()->plane_bytes());
  }
  outbox = std::make_unique<Outbox>(work, std::max(largest, kPieceBytes));
}

// Windows that follow each other on the last axis are added at once.
void DeviceSweep::Impl::add(std::int64_t first, std::int64_t count) {
  const std::int64_t image = first / batches.per_image();
  const auto rows = static_cast<std::int64_t>(own.grid[0].starts.size()), group = batches.per_image() / rows;
  const std::int64_t line = std::min<std::int64_t>(static_cast<std::int64_t>(own.grid.back().starts.size()), group);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const DevicePredictor::Output& output = predictor.outputs()[i];
    const std::int64_t bytes = byte_size(output.dtype, element_count(output.window));
    for (std::int64_t w = 0; w < count;) {
      const std::int64_t window = (first + w) % batches.per_image(), row = window / group;
      const std::int64_t some = std::min({count - w, line - window % line, sums[i]->max_windows()});
      sums[i]->add(static_cast<const std::byte*>(output.memory) + w * bytes, windows::indices(own.grid, window), some);
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
  const std::int64_t window_bytes = byte_size(predictor.dtype(), own.cutter.window_elements()) * slab.channels();
  for (std::int64_t w = 0; w < count; w += kWindowsOfACut)
    slab.cut(kernels, (first + w) % batches.per_image(), std::min<std::int64_t>(count - w, kWindowsOfACut),
             predictor.dtype(), static_cast<std::byte*>(predictor.windows()) + w * window_bytes, stream);
  work.record(cut.get(), stream);
  predictor.enqueue(stream);
  add(first, count);
}

void DeviceSweep::Impl::run(const MakeSink& make_sink) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i]->open(make_sink(i), images, own.image.size());
  std::deque<std::int64_t> under_way;   // windows up to the end of each batch
  std::size_t at = 0;
  for (std::int64_t first = 0; first < batches.total();) {
    throw_if_cancelled();
    if (under_way.size() == kAhead) {
      work.wait(ends[at].get());
      report(under_way.front());
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
  report(batches.total());
}

DeviceSweep::DeviceSweep(DeviceWork& work, const SlidingWindow& windows, ImageSource& source,
                         DevicePredictor& predictor, const SweepOptions& options)
    : impl_(std::make_unique<Impl>(work, windows, source, predictor, options)) {}
DeviceSweep::~DeviceSweep() = default;
void DeviceSweep::run(const MakeSink& sinks) { impl_->run(sinks); }

}  // namespace tenfold::imaging
