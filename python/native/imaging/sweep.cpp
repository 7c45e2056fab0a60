// sweep() and infer(): engines and functions over images in memory and over whatever Python reads and writes by
// regions.
#include <memory>

#include "native/call/bound_context.h"
#include "native/errors.h"
#include "native/imaging/gpu_images.h"
#include "native/imaging/windows.h"
#include "native/long_call.h"
#include "native/options/callbacks.h"
#include "native/options/values.h"
#include "tenfold/device_array.h"
#include "tenfold/device_stream.h"

namespace tenfold::python {
namespace {

// A function of windows [windows, channel, roi...] and the number of the first. What it gives is an array, or a
// sequence of them.
WindowPredictor predictor_from(nb::handle function) {
  return [function](const Tensor& windows, std::int64_t first) {
    const Locked locked;
    const nb::object gives = function(
        array_over(const_cast<void*>(windows.raw()), true, windows.dtype(), windows.shape(), nb::none()), first);
    std::vector<Tensor> tensors = tensors_of(gives, "output");
    return tensors;
  };
}

std::function<bool(std::int64_t, std::int64_t)> progress_from(nb::handle function) {
  if (function.is_none()) return {};
  return [function](std::int64_t done, std::int64_t total) {
    const Locked locked;
    const nb::object gives = function(done, total);
    return gives.is_none() || nb::cast<bool>(gives);
  };
}

// What has `shape`, `dtype` and regions by slices, as NumPy's arrays, Zarr's and h5py's have.
class PySource final : public ImageSource {
 public:
  PySource(nb::handle read, Shape shape, DType dtype, std::int64_t chunk, double overhead = 0)
      : read_(read), shape_(std::move(shape)), dtype_(dtype), chunk_(chunk), overhead_(overhead) {}
  Shape shape() const override { return shape_; }
  DType dtype() const override { return dtype_; }
  std::int64_t chunk() const override { return chunk_; }
  std::int64_t chunk_along(std::size_t) const override { return chunk_; }   // of the axis that is swept
  double overhead() const override { return overhead_; }
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override {
    const Locked locked;
    const nb::object region = read_(image, tuple_of(begin), tuple_of(extent));
    const Tensor tensor = tensor_of(region, "region of the source");
    Shape expected = {shape_[1]};
    expected.insert(expected.end(), extent.begin(), extent.end());
    if (tensor.shape() != expected || tensor.dtype() != dtype_)
      raise_error(ErrorKind::invalid_argument, "the source gave " + std::string(name(tensor.dtype())) + "[" +
                                                   text(tensor.shape()) + "], expected " + std::string(name(dtype_)) +
                                                   "[" + text(expected) + "]");
    std::memcpy(to, tensor.raw(), static_cast<std::size_t>(tensor.bytes()));
  }

 private:
  nb::handle read_;
  Shape shape_;
  DType dtype_;
  std::int64_t chunk_;
  double overhead_;
};

// Images in memory, which are read in place.
class TensorSource final : public ImageSource {
 public:
  explicit TensorSource(Tensor images) : images_(std::move(images)) {}
  Shape shape() const override { return images_.shape(); }
  DType dtype() const override { return images_.dtype(); }
  void read(std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t>, void*) override {
  }  // memory() is there
  const void* memory() const override { return images_.raw(); }

 private:
  Tensor images_;
};

// Two functions of Python's: one learns type and shape and gives the other, which takes planes.
class PySink final : public ImageSink {
 public:
  PySink(nb::handle open, std::size_t output) : open_(open), output_(output) {}
  ~PySink() override {
    const Locked locked;
    write_.reset();
  }
  PySink(const PySink&) = delete;
  PySink& operator=(const PySink&) = delete;
  void open(DType dtype, const Shape& shape) override {
    const Locked locked;
    write_ = open_(output_, numpy_dtype(dtype), tuple_of(shape));
    dtype_ = dtype, channels_ = shape[1];
  }
  void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    const Locked locked;
    Shape shape = {channels_};
    shape.insert(shape.end(), extent.begin(), extent.end());
    write_(image, tuple_of(begin), array_over(const_cast<void*>(from), false, dtype_, shape, nb::none()));
  }

 private:
  nb::handle open_;
  std::size_t output_;
  nb::object write_;
  DType dtype_ = DType::f32;
  std::int64_t channels_ = 0;
};

// The engines of an engine, or of a sequence of nothing else; else none.
std::vector<Engine> engines_from(nb::handle predictor) {
  if (nb::isinstance<PyEngine>(predictor)) return {engine_from(predictor, "predictor")};
  std::vector<Engine> engines;
  if (!PyList_Check(predictor.ptr()) && !PyTuple_Check(predictor.ptr())) return engines;
  for (const nb::handle one : predictor) {
    if (!nb::isinstance<PyEngine>(one)) return {};
    engines.push_back(engine_from(one, "predictor"));
  }
  return engines;
}

struct PySweep {
  nb::handle predictor;
  SweepOptions options;
  std::vector<Engine> engines;
  std::shared_ptr<Callbacks> callbacks = std::make_shared<Callbacks>();   // with the log, to the logger "tenfold"

  PySweep(nb::handle given, const StitchOptions& stitch, std::int64_t window_batch, nb::handle dtype,
          nb::handle progress, std::int64_t memory)
      : predictor(given), engines(engines_from(given)) {
    options.stitch = stitch, options.window_batch = window_batch, options.progress = progress_from(progress);
    options.memory = memory;
    options.log = callbacks->log();
    if (!dtype.is_none()) options.input = dtype_of(dtype, "dtype");
    if (engines.empty() && PyCallable_Check(given.ptr()) == 0)
      raise_type_error("a predictor is a tenfold.Engine, several of them or a function, not a " + class_name(given));
  }
  // Images on the GPU of the engines, whose results are to be there, too; null: they are elsewhere.
  std::unique_ptr<GpuImages> on_gpu(nb::handle images, nb::handle out) const {
    constexpr std::int64_t kDefaultStream = 1;   // as DLPack counts them
    ArrayView view;
    nb::object array = nb::borrow(images);
    read_array(view, array, "images", kDefaultStream);
    if (!view.on_gpu() || engines.empty() || !out.is_none()) return nullptr;
    if (!view.dense || view.odd) {
      array = packed_copy(array, view.maker);
      read_array(view, array, "images", kDefaultStream);
    }
    auto found = std::make_unique<GpuImages>(std::move(array), std::move(view));
    for (const Engine& engine : engines)
      if (device_of(engine) != found->device())
        raise_error(ErrorKind::invalid_argument, "images lie on " + found->device() + ", an engine is on " +
                                                     device_of(engine) + ": expected one device");
    LongCall().run([&] { synchronize_stream(found->device(), nullptr); });
    return found;
  }
  // `go` with engines, or with a function.
  template <class Go>
  void run(Go go) const {
    if (!engines.empty()) {
      LongCall().run([&] { go(std::span<const Engine>(engines)); });
    } else {
      const WindowPredictor function = predictor_from(predictor);
      LongCall().run([&] { go(function); });
    }
  }
};

nb::list infer_windows(const SlidingWindow& windows, nb::handle images, nb::handle predictor, std::int64_t window_batch,
                       nb::handle dtype, const std::string& activation, const std::string& reduce, double threshold,
                       int threads, nb::handle progress, nb::handle out, nb::handle grid, nb::handle interpolation,
                       std::int64_t memory, int axis, bool devices) {
  PySweep call(predictor, stitch_options({activation, reduce, threshold, threads, grid, interpolation}), window_batch,
               dtype, progress, memory);
  call.options.axis = axis, call.options.several = devices ? SeveralEngines::devices : SeveralEngines::mean;
  if (std::unique_ptr<GpuImages> there = call.on_gpu(images, out)) {
    const MakeSink make = [&](std::size_t) { return there->make_sink(); };
    call.run([&](const auto& with) { sweep(windows, there->source(), with, make, call.options); });
    return there->arrays();
  }
  TensorSource source(tensor_of(images, "images"));
  ArraySinks sinks(out);
  const MakeSink make = [&](std::size_t output) { return sinks.make(output); };
  call.run([&](const auto& with) { sweep(windows, source, with, make, call.options); });
  return sinks.arrays();
}

nb::dict sweep_windows(const SlidingWindow& windows, nb::handle read, nb::handle shape, nb::handle source_dtype,
                       nb::handle predictor, nb::handle open, std::int64_t chunk, std::int64_t window_batch,
                       nb::handle dtype, const std::string& activation, const std::string& reduce, double threshold,
                       int threads, nb::handle progress, nb::handle grid, nb::handle interpolation, std::int64_t memory,
                       std::int64_t first_plane, nb::handle rows, int axis, bool devices) {
  PySweep call(predictor, stitch_options({activation, reduce, threshold, threads, grid, interpolation}), window_batch,
               dtype, progress, memory);
  SweepSeconds seconds;
  call.options.seconds = &seconds, call.options.first_plane = first_plane, call.options.axis = axis;
  call.options.several = devices ? SeveralEngines::devices : SeveralEngines::mean;
  if (!rows.is_none()) {
    const Shape range = shape_of(rows);
    if (range.size() != 2 || range[1] <= 0)
      raise_error(ErrorKind::invalid_argument, "rows: expected the first one and the one after the last");
    call.options.first_row = range[0], call.options.end_row = range[1];
  }
  PySource source(read, shape_of(shape), dtype_of(source_dtype, "source_dtype"), chunk);
  const MakeSink sinks = [&](std::size_t output) { return std::make_shared<PySink>(open, output); };
  call.run([&](const auto& with) { sweep(windows, source, with, sinks, call.options); });
  nb::dict took;
  took["reading"] = seconds.reading, took["waiting"] = seconds.waiting;
  return took;
}

nb::list bands(const SlidingWindow& windows, nb::handle shape, nb::handle source_dtype, nb::handle outputs,
               std::int64_t memory, std::int64_t align, std::int64_t chunk, std::int64_t window_batch, nb::handle dtype,
               const std::string& reduce, nb::handle grid, nb::handle interpolation, double overhead, int axis,
               nb::handle speeds) {
  SweepOptions options;
  options.stitch = stitch_options({"none", reduce, 0.5, 0, grid, interpolation});
  options.window_batch = window_batch, options.memory = memory, options.axis = axis;
  if (!dtype.is_none()) options.input = dtype_of(dtype, "dtype");
  std::vector<Shape> shapes;
  for (const nb::handle one : nb::borrow<nb::sequence>(outputs)) shapes.push_back(shape_of(one));
  const PySource source({}, shape_of(shape), dtype_of(source_dtype, "source_dtype"), chunk, overhead);
  nb::list found;
  if (speeds.is_none()) {
    for (const std::int64_t end : sweep_bands(windows, source, shapes, options, align)) found.append(end);
    return found;
  }
  std::vector<double> each;
  for (const nb::handle one : nb::borrow<nb::sequence>(speeds)) each.push_back(nb::cast<double>(one));
  for (const DeviceBand& one : sweep_bands(windows, source, shapes, each, options, align))
    found.append(nb::make_tuple(one.device, one.begin, one.end));
  return found;
}

}  // namespace

void bind_sweep(nb::module_& m) {
  m.def("infer", &infer_windows, nb::arg("windows"), nb::arg("images"), nb::arg("predictor"),
        nb::arg("window_batch") = 4, nb::kw_only(), nb::arg("dtype").none() = nb::none(),
        nb::arg("activation") = "none", nb::arg("reduce") = "none", nb::arg("threshold") = 0.5, nb::arg("threads") = 0,
        nb::arg("progress").none() = nb::none(), nb::arg("out").none() = nb::none(),
        nb::arg("grid").none() = nb::none(), nb::arg("interpolation") = "linear", nb::arg("memory") = 0,
        nb::arg("axis") = 0, nb::arg("devices") = false,
        "Images [image, channel, spatial...] through an engine, the mean of several or a function of (windows, "
        "first), in windows: a list of arrays, those of `out` where it is given, which share no memory with the images. "
        "Images on the GPU of the engine stay there, and so do results. grid: spatial extents to which means are "
        "resampled before activation and reduction; interpolation: linear or nearest, for all axes or each. "
        "memory: bytes beyond which rows are computed in bands, 0: no bound. axis: along which slabs pass. "
        "devices: the engines are one network on several devices, each of which computes a band of rows.");
  m.def("sweep", &sweep_windows, nb::arg("windows"), nb::arg("read"), nb::arg("shape"), nb::arg("source_dtype"),
        nb::arg("predictor"), nb::arg("open"), nb::kw_only(), nb::arg("chunk") = 1, nb::arg("window_batch") = 4,
        nb::arg("dtype").none() = nb::none(), nb::arg("activation") = "none", nb::arg("reduce") = "none",
        nb::arg("threshold") = 0.5, nb::arg("threads") = 0, nb::arg("progress").none() = nb::none(),
        nb::arg("grid").none() = nb::none(), nb::arg("interpolation") = "linear", nb::arg("memory") = 0,
        nb::arg("first_plane") = 0, nb::arg("rows").none() = nb::none(), nb::arg("axis") = 0,
        nb::arg("devices") = false,
        "The same plane by plane: read(image, begin, extent) gives [channel, extent...], and is called by another thread "
        "while the predictor computes; open(output, dtype, shape) gives the function write(image, begin, planes). "
        "first_plane, rows: a part of the results, from that plane on, and [first, end) of the second axis. axis: along "
        "which slabs pass, the first one; the others follow. Gives seconds of reading, and of waiting for it.");
  m.def("sweep_bands", &bands, nb::arg("windows"), nb::arg("shape"), nb::arg("source_dtype"), nb::arg("outputs"),
        nb::arg("memory"), nb::kw_only(), nb::arg("align") = 1, nb::arg("chunk") = 1, nb::arg("window_batch") = 4,
        nb::arg("dtype").none() = nb::none(), nb::arg("reduce") = "none", nb::arg("grid").none() = nb::none(),
        nb::arg("interpolation") = "linear", nb::arg("overhead") = 0.0,
        nb::arg("axis") = 0, nb::arg("speeds").none() = nb::none(),
        "The ends of the bands of a sweep in so much memory. outputs: (channel, roi...) of each; align: all ends but "
        "the last are multiples of it; overhead: bytes that read() needs for each that it gives. speeds: of several "
        "devices that sweep at the same time, each with its share of the memory; then (device, begin, end) of each band.");
}

}  // namespace tenfold::python
