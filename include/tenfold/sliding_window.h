// Sliding windows: a network of small inputs over images and volumes of any size, whose overlapping outputs are
// blended.
//
//   tenfold::SlidingWindow windows({600, 512, 512}, {.roi = {64, 64, 64}, .mode = tenfold::WindowMode::gaussian});
//   std::vector<tenfold::Tensor> outputs = tenfold::infer(windows, image, engine);   // image: f32[1, 1, 600, 512, 512]
//
// Images are [image, channel, spatial...] with 1 to 4 spatial axes, channels first, row major. Places, padding and
// weights are those of MONAI 1.6: an output is sum(weight * prediction) / sum(weight) over the windows that cover a
// voxel. Sums are f32 whatever the type of the predictions. In each voxel windows are added in their order, so the same
// predictions give the same bits for any number of threads, any batch of windows and any source.
//
// Only one window's extent of the first spatial axis is summed up at a time; planes that no later window touches are
// divided and handed to a sink. It is in the library tenfold-imaging. Functions throw Error: invalid_argument, which
// names the option and what was expected, and what sources, sinks and predictors throw.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tenfold/export.h"
#include "tenfold/log.h"
#include "tenfold/tensor.h"

namespace tenfold {

class Engine;
namespace windows { struct WindowState; struct WindowAccess; }

// How windows are spread along an axis that is longer than the window.
//   fixed_step   every max(1, int(roi * (1 - overlap))); the last one is shifted back into the image (MONAI)
//   even         in steps of equal length that are no longer than that, rounded to whole voxels (nnU-Net)
enum class WindowPlacement : std::uint8_t { fixed_step, even };
// What a voxel of a window counts.
//   constant   1
//   gaussian   a Gaussian of sigma_scale * roi along each axis, at least max(its least value, 1e-3)
//   halo       1, but 0 for the outer `halo` voxels, except at the image's border
enum class WindowMode : std::uint8_t { constant, gaussian, halo };
// What surrounds an image that is smaller than the window.
enum class WindowPadding : std::uint8_t { constant, reflect, replicate, circular };
// From the names above. Throw invalid_argument, which lists them, for any other.
TENFOLD_API WindowPlacement parse_window_placement(std::string_view name);
TENFOLD_API WindowMode parse_window_mode(std::string_view name);
TENFOLD_API WindowPadding parse_window_padding(std::string_view name);

struct SlidingWindowOptions {
  Shape roi;                                // the window; one extent serves all axes; 0 and less: the image's extent
  std::vector<double> overlap = {0.25};     // in [0, 1), one for all axes or one for each
  WindowMode mode = WindowMode::constant;
  std::vector<double> sigma_scale = {0.125};   // likewise
  Shape halo = {};                          // likewise; windows are then at most roi - 2 * halo apart
  Tensor weights = {};                      // f32 [roi...], none negative; in place of `mode`. Undefined: by `mode`
  WindowPlacement placement = WindowPlacement::fixed_step;
  WindowPadding padding = WindowPadding::constant;
  double cval = 0;                          // the value of constant padding
};

// Where the windows of an image lie, and what their voxels weigh. Immutable and thread safe; copies share their data.
class TENFOLD_API SlidingWindow {
 public:
  // `image`: its spatial extents, 1 to 4.
  SlidingWindow(const Shape& image, const SlidingWindowOptions& options);

  const Shape& image() const;
  const Shape& roi() const;
  Shape padded() const;                     // the image with its padding
  Shape pad_before() const;                 // (roi - image) / 2 where the window is larger, else 0
  Shape pad_after() const;                  // the rest
  std::vector<Shape> starts() const;        // for each axis, where windows begin in the padded image
  std::int64_t count() const;               // windows of an image
  Shape place(std::int64_t window) const;   // where one begins in the padded image; the last axis varies fastest
  Tensor weights() const;                   // f32 [roi...]; ones in mode `halo`
  // Windows `first` to first + count - 1, counted over all images in their order, as [count, channel, roi...] of
  // `dtype` at `to`. `images`: [image, channel, spatial...] of u8, u16, i16, i32, f16, bf16, f32 or f64. `dtype`: that
  // of the images, f32, f64, f16 or bf16. `threads`: 0 takes all, or one where the windows are small.
  void cut(const Tensor& images, std::int64_t first, std::int64_t count, DType dtype, void* to, int threads = 0) const;

 private:
  friend struct windows::WindowAccess;
  std::shared_ptr<const windows::WindowState> state_;
};

// What becomes of the mean of a voxel: first the activation, over channels for softmax, then the reduction.
//   argmax      the channel of the largest value, the first of equal ones: u8, or u16 beyond 256 channels; one channel
//   threshold   whether it is at least `threshold`: u8, 0 or 1
enum class OutputActivation : std::uint8_t { none, sigmoid, softmax };
enum class OutputReduction : std::uint8_t { none, argmax, threshold };
TENFOLD_API OutputActivation parse_output_activation(std::string_view name);
TENFOLD_API OutputReduction parse_output_reduction(std::string_view name);

// How means get to another grid, along an axis.
//   linear    between the two nearest voxels, as torch's interpolate() with align_corners=False
//   nearest   the voxel whose center is nearest (torch's nearest-exact)
enum class GridInterpolation : std::uint8_t { linear, nearest };
TENFOLD_API GridInterpolation parse_grid_interpolation(std::string_view name);

struct StitchOptions {
  OutputActivation activation = OutputActivation::none;
  OutputReduction reduction = OutputReduction::none;
  double threshold = 0.5;
  int threads = 0;                          // 0: all processors, or one where windows are small
  // Spatial extents of all outputs: means are resampled to them plane by plane, before activation and reduction. Empty:
  // those that the outputs have by themselves.
  Shape grid = {};
  std::vector<GridInterpolation> interpolation = {GridInterpolation::linear};   // one for all axes or one for each
};

// Where images come from. Called by one thread at a time: read() by one that the sweep makes, which reads what the next
// windows need while these are computed. What it throws comes out of the sweep.
class TENFOLD_API ImageSource {
 public:
  virtual ~ImageSource();
  virtual Shape shape() const = 0;          // [image, channel, spatial...]
  virtual DType dtype() const = 0;          // as SlidingWindow::cut() takes it
  // Fills `to` with [channel, extent...] of the region of an image that begins at `begin`, dense and of dtype().
  // Regions are whole planes, or in a sweep by bands the same rows of them.
  virtual void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
                    void* to) = 0;
  // Planes of the first spatial axis that it stores together: it is asked for whole groups of them.
  virtual std::int64_t chunk() const { return 1; }
  // The same of another spatial axis, for sweeps along it.
  virtual std::int64_t chunk_along(std::size_t axis) const { return axis == 0 ? chunk() : 1; }
  // Bytes that read() needs for itself, for each one that it fills: SweepOptions::memory counts them.
  virtual double overhead() const { return 0; }
  // The whole array where it lies dense in memory: read() is not called then. Null: it does not.
  virtual const void* memory() const { return nullptr; }
  // The same in the memory of the GPU that the engine is on, for sweeps that stay there. Others call read().
  virtual const void* gpu_memory() const { return nullptr; }
};

// Where one output goes. Called by the sweep's thread.
class TENFOLD_API ImageSink {
 public:
  virtual ~ImageSink();
  virtual void open(DType dtype, const Shape& shape) = 0;   // once, first: [image, channel, spatial...]
  // [channel, extent...] of a region, dense. Regions are whole planes, in ascending order, each once. In a sweep by
  // bands they are the band's rows of planes, along the second spatial axis: all planes of all images, then the next
  // band's.
  virtual void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
                     const void* from) = 0;
  // After open(): where the whole array lies dense in memory: it is written there, and write() is not called. Null: it
  // does not.
  virtual void* memory() { return nullptr; }
  // The same in the memory of the GPU that the engine is on, for sweeps that stay there. Others call write().
  virtual void* gpu_memory() { return nullptr; }
};
// Makes the sink of an output, counted from 0.
using MakeSink = std::function<std::shared_ptr<ImageSink>(std::size_t output)>;

// Blends predictions that somebody else computes. One thread at a time.
class TENFOLD_API WindowStitcher {
 public:
  // `images`: how many there are. `make_sink` is called once for each output, by the first add().
  WindowStitcher(const SlidingWindow& windows, std::int64_t images, MakeSink make_sink,
                 const StitchOptions& options = {});
  WindowStitcher(WindowStitcher&&) noexcept;
  ~WindowStitcher();

  // Predictions of the next windows, in their order: each output is [windows, channel, spatial...] of f32, f64, f16,
  // bf16 or integers. Outputs may differ in channels and in spatial extents: one of o voxels for a window of r along an
  // axis belongs to an image of floor(padded * o / r), a window at s begins at floor(s * o / r), and weights are
  // resized to the nearest. All calls have the same outputs. `weights`: f32 [roi...] of these windows, in place of the
  // usual ones; those of the first call divide all voxels. All windows of an image in one call are added quickest.
  void add(std::span<const Tensor> outputs, const Tensor& weights = {});
  std::int64_t added() const;               // windows so far
  void finish();                            // throws invalid_argument where windows are missing

 private:
  struct TENFOLD_NOT_EXPORTED Impl;
  std::unique_ptr<Impl> impl_;
};

// Predictions of a batch of windows [windows, channel, roi...], the first of which is window `first` of all images. The
// tensor is valid until it returns. Results are as WindowStitcher::add() takes them.
using WindowPredictor = std::function<std::vector<Tensor>(const Tensor& windows, std::int64_t first)>;

// What a sweep took, without sources in memory.
struct SweepSeconds {
  double reading = 0;                       // in the source's read()
  double waiting = 0;                       // that the sweep stood still for it
};

// What several engines are.
//   mean      networks whose outputs have the same shapes: the mean of these is the result
//   devices   one network on several devices, or more than once on one: each computes a band of rows along the second
//             axis, as large as it is quick, at the same time as the others. Engines that compute the same bits give those
//             of one. Windows that two bands share are computed twice
enum class SeveralEngines : std::uint8_t { mean, devices };

struct SweepOptions {
  StitchOptions stitch;
  SeveralEngines several = SeveralEngines::mean;
  std::int64_t window_batch = 4;            // windows of a call; an engine of a fixed batch takes its own
  // The spatial axis along which slabs pass, best one where the others are short. Windows are counted along it first,
  // and what is said of the first and second axis below is of the axes in that order: this one, then the others.
  // Results of two axes agree but for the order of sums. Regions have their axes as images have them.
  int axis = 0;
  DType input = DType::f32;                 // of the windows for a function; an engine's are of its input's type
  // Bytes for planes, sums and a batch of windows; 0: no bound. Where all rows of the second spatial axis need more,
  // they are cut into bands, which are swept one after the other and of which `log` is told. Windows that two bands
  // share are computed twice, their first numbers are those of all windows, and results are the same bits. A function
  // is asked for a window of zeros first, number 0, to learn its outputs. Throws invalid_argument, which names the
  // least that would do, where one row of windows needs more. What the predictor needs for itself is not counted.
  // Several devices that compute at the same time have equal shares of it.
  std::int64_t memory = 0;
  // A part of the results: of the only image, planes from `first_plane` on, and rows [first_row, end_row) of the second
  // spatial axis (end_row 0: all). Bits are those of all results. With `memory`, the rows are cut into bands, which all
  // begin with that plane.
  std::int64_t first_plane = 0, first_row = 0, end_row = 0;
  LogCallback log = {};                     // told of bands, and why a GPU cannot do what `stay_on_gpu` says
  SweepSeconds* seconds = nullptr;          // where they are added up
  // Told after each batch, in the caller's thread. If it returns false, Error(cancelled) is thrown.
  std::function<bool(std::int64_t done, std::int64_t total)> progress = {};
  // Engines on one GPU: planes travel there once, in their own type, and windows are cut, blended and reduced there.
  // `memory` is then the GPU's. If false, or where the GPU cannot (too little memory, no NVRTC, images of i32 or f64),
  // the host does that.
  bool stay_on_gpu = true;
};

// The bands of a sweep with `options.memory`: their ends along the second spatial axis of the results, of which the
// last one is its extent, and the others are multiples of `align`. `outputs`: [channel, roi...] of each output of a
// window. For those who sweep bands by themselves, by `first_row` and `end_row`.
TENFOLD_API std::vector<std::int64_t> sweep_bands(const SlidingWindow& windows, const ImageSource& source,
                                                  const std::vector<Shape>& outputs, const SweepOptions& options,
                                                  std::int64_t align = 1);
// The same for several devices that sweep at the same time: rows in proportion to `speeds`, windows a second of each, and
// bands of these rows where its share of `options.memory` asks for them. A device that is too slow for any has no band.
struct DeviceBand { int device = 0; std::int64_t begin = 0, end = 0; };
TENFOLD_API std::vector<DeviceBand> sweep_bands(const SlidingWindow& windows, const ImageSource& source,
                                                const std::vector<Shape>& outputs, std::span<const double> speeds,
                                                const SweepOptions& options, std::int64_t align = 1);

// Sweeps over images along their first spatial axis. Each plane of a source is asked for once, and memory is bounded by
// what one extent of the window needs, whatever the axis' length. The engine has one input [batch, channel,
// spatial...], whose spatial extents take the window. Its context is the call's own, and windows are cut where it
// reads them. The engine keeps one context of such calls for the next one.
TENFOLD_API void sweep(const SlidingWindow& windows, ImageSource& source, const WindowPredictor& predict,
                       const MakeSink& sinks, const SweepOptions& options = {});
TENFOLD_API void sweep(const SlidingWindow& windows, ImageSource& source, const Engine& engine, const MakeSink& sinks,
                       const SweepOptions& options = {});
// Several engines, as SweepOptions::several says. For the mean windows are cut once, of f32 unless all engines take one
// type. Several devices read the source and write to sinks in threads of their own, one at a time, and their bands in
// any order. The error of one ends the sweep.
TENFOLD_API void sweep(const SlidingWindow& windows, ImageSource& source, std::span<const Engine> engines,
                       const MakeSink& sinks, const SweepOptions& options = {});
// The same in memory: `images` is [image, channel, spatial...]; gives a tensor for each output.
TENFOLD_API std::vector<Tensor> infer(const SlidingWindow& windows, const Tensor& images,
                                      const WindowPredictor& predict, const SweepOptions& options = {});
TENFOLD_API std::vector<Tensor> infer(const SlidingWindow& windows, const Tensor& images, const Engine& engine,
                                      const SweepOptions& options = {});
TENFOLD_API std::vector<Tensor> infer(const SlidingWindow& windows, const Tensor& images,
                                      std::span<const Engine> engines, const SweepOptions& options = {});

}  // namespace tenfold
