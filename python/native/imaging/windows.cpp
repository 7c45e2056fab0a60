// tenfold/sliding_window.h: windows and stitching for predictors that are written in Python.
#include "native/imaging/windows.h"

#include <memory>
#include <optional>

#include "native/errors.h"
#include "native/long_call.h"
#include "native/options/values.h"

namespace tenfold::python {
namespace {

std::vector<double> numbers_of(nb::handle value) {
  if (PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr())) return {nb::cast<double>(value)};
  std::vector<double> numbers;
  for (const nb::handle one : nb::borrow<nb::sequence>(value)) numbers.push_back(nb::cast<double>(one));
  return numbers;
}

// Extents, where None stands for the image's.
Shape extents_of(nb::handle value) {
  if (value.is_none()) return {0};
  if (PyIndex_Check(value.ptr())) return {number_of(value)};
  Shape extents;
  for (const nb::handle one : nb::borrow<nb::sequence>(value)) extents.push_back(one.is_none() ? 0 : number_of(one));
  return extents;
}

void make(SlidingWindow* self, nb::handle image_shape, nb::handle roi, nb::handle overlap, const std::string& mode,
          nb::handle sigma_scale, nb::handle halo, nb::handle weights, const std::string& placement,
          const std::string& padding_mode, double cval) {
  SlidingWindowOptions options;
  options.roi = extents_of(roi), options.overlap = numbers_of(overlap), options.sigma_scale = numbers_of(sigma_scale);
  options.mode = parse_window_mode(mode), options.placement = parse_window_placement(placement);
  options.padding = parse_window_padding(padding_mode), options.cval = cval;
  if (!halo.is_none()) options.halo = extents_of(halo);
  if (!weights.is_none()) options.weights = tensor_of(weights, "weights");
  new (self) SlidingWindow(shape_of(image_shape), options);
}

nb::tuple starts_of(const SlidingWindow& windows) {
  nb::list axes;
  for (const Shape& starts : windows.starts()) axes.append(tuple_of(starts));
  return nb::tuple(axes);
}

nb::object cut(const SlidingWindow& windows, nb::handle images, std::int64_t first, std::int64_t count,
               nb::handle dtype, int threads) {
  ArrayView view;
  read_array(view, images, "images");
  const Tensor tensor = tensor_of(images, "images");
  const DType type = dtype.is_none() ? tensor.dtype() : dtype_of(dtype, "dtype");
  Shape shape = {count, tensor.rank() > 1 ? tensor.shape()[1] : 0};
  shape.insert(shape.end(), windows.roi().begin(), windows.roi().end());
  void* to = nullptr;
  nb::object made = new_array(view.maker, images, type, shape, to);
  LongCall().run([&] { windows.cut(tensor, first, count, type, to, threads); });
  return made;
}

// One output's memory: a new tensor, or the array that a view shows.
class ArraySink final : public ImageSink {
 public:
  ArraySink(std::size_t output, const ArrayView* view, std::shared_ptr<Tensor> made)
      : output_(output), view_(view), made_(std::move(made)) {}
  void open(DType dtype, const Shape& shape) override {
    if (view_ == nullptr) {
      *made_ = Tensor(dtype, shape);
      return;
    }
    const Shape given(view_->extents().begin(), view_->extents().end());
    const bool fits = view_->dtype == dtype && given == shape && view_->dense && !view_->odd && !view_->read_only;
    if (fits && !view_->on_gpu()) return;
    const Locked locked;
    raise_error(ErrorKind::invalid_argument,
                  "out: array " + std::to_string(output_) + " is " + std::string(name(view_->dtype)) + "[" +
                      text(given) + "]; expected " + std::string(name(dtype)) + "[" + text(shape) +
                      "], writable, dense and row major in the host's memory");
  }
  void write(std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t>, const void*) override {
  }  // memory() is there
  void* memory() override { return view_ != nullptr ? view_->data : made_->mutable_raw(); }

 private:
  std::size_t output_;
  const ArrayView* view_;
  std::shared_ptr<Tensor> made_;
};

struct PyStitcher {
  ArraySinks sinks;
  WindowStitcher stitcher;

  PyStitcher(const SlidingWindow& windows, std::int64_t images, const StitchOptions& options, nb::handle out)
      : sinks(out),
        stitcher(windows, images, [this](std::size_t output) { return sinks.make(output); }, options) {}
  void add(nb::handle outputs, nb::handle weights) {
    const std::vector<Tensor> given = tensors_of(outputs, "output");
    const Tensor map = weights.is_none() ? Tensor() : tensor_of(weights, "weights");
    LongCall().run([&] { stitcher.add(given, map); });
  }
  nb::list finish() {
    stitcher.finish();
    return sinks.arrays();
  }
};

}  // namespace

StitchOptions stitch_options(const PyStitchOptions& given) {
  StitchOptions options{parse_output_activation(given.activation), parse_output_reduction(given.reduce),
                        given.threshold, given.threads};
  if (!given.grid.is_none()) options.grid = shape_of(given.grid);
  options.interpolation.clear();
  if (nb::isinstance<nb::str>(given.interpolation))
    options.interpolation = {parse_grid_interpolation(nb::cast<std::string>(given.interpolation))};
  else
    for (const nb::handle one : nb::borrow<nb::sequence>(given.interpolation))
      options.interpolation.push_back(parse_grid_interpolation(nb::cast<std::string>(one)));
  return options;
}

ArraySinks::ArraySinks(nb::handle out) {
  if (out.is_none()) return;
  if (PyList_Check(out.ptr()) || PyTuple_Check(out.ptr()))
    for (const nb::handle one : out) given_.push_back(nb::borrow(one));
  else given_.push_back(nb::borrow(out));
  views_.resize(given_.size());
  for (std::size_t i = 0; i < given_.size(); ++i) read_array(views_[i], given_[i], "out: array " + std::to_string(i));
}

std::shared_ptr<ImageSink> ArraySinks::make(std::size_t output) {
  if (!given_.empty() && output >= given_.size()) {
    const Locked locked;
    raise_error(ErrorKind::invalid_argument, "out has " + std::to_string(given_.size()) +
                                                 " arrays, the predictor gives more outputs: expected one for each");
  }
  const std::shared_ptr<Tensor>& made = made_.emplace_back(std::make_shared<Tensor>());
  return std::make_shared<ArraySink>(output, given_.empty() ? nullptr : &views_[output], made);
}

nb::list ArraySinks::arrays() const {
  if (!given_.empty() && given_.size() != made_.size())
    raise_error(ErrorKind::invalid_argument, "out has " + std::to_string(given_.size()) +
                                                 " arrays, the predictor gives " + std::to_string(made_.size()) +
                                                 " outputs: expected one for each");
  nb::list arrays;
  for (std::size_t i = 0; i < made_.size(); ++i)
    arrays.append(given_.empty() ? own_array(*made_[i]) : given_[i]);
  return arrays;
}

nb::object own_array(const Tensor& tensor) {
  auto* kept = new Tensor(tensor);
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  return array_over(kept->mutable_raw(), true, kept->dtype(), kept->shape(), owner);
}

nb::list own_arrays(const std::vector<Tensor>& tensors) {
  nb::list arrays;
  for (const Tensor& one : tensors) arrays.append(own_array(one));
  return arrays;
}

std::vector<Tensor> tensors_of(nb::handle arrays, const std::string& what) {
  if (!PyList_Check(arrays.ptr()) && !PyTuple_Check(arrays.ptr())) return {tensor_of(arrays, what)};
  std::vector<Tensor> tensors;
  for (const nb::handle one : arrays) tensors.push_back(tensor_of(one, what + " " + std::to_string(tensors.size())));
  return tensors;
}

void bind_windows(nb::module_& m) {
  nb::class_<SlidingWindow>(m, "SlidingWindow", "Where the windows of an image lie, and what their voxels weigh.")
      .def("__init__", &make, nb::arg("image_shape"), nb::arg("roi").none(), nb::arg("overlap") = 0.25,
           nb::arg("mode") = "constant", nb::arg("sigma_scale") = 0.125, nb::kw_only(),
           nb::arg("halo").none() = nb::none(), nb::arg("weights").none() = nb::none(),
           nb::arg("placement") = "fixed_step", nb::arg("padding_mode") = "constant", nb::arg("cval") = 0.0,
           "image_shape: spatial extents. roi: an extent for all axes or one for each; 0, -1 and None are the image's.")
      .def_prop_ro("image_shape", [](const SlidingWindow& w) { return tuple_of(w.image()); })
      .def_prop_ro("roi", [](const SlidingWindow& w) { return tuple_of(w.roi()); })
      .def_prop_ro("padded_shape", [](const SlidingWindow& w) { return tuple_of(w.padded()); })
      .def_prop_ro("pad_before", [](const SlidingWindow& w) { return tuple_of(w.pad_before()); })
      .def_prop_ro("pad_after", [](const SlidingWindow& w) { return tuple_of(w.pad_after()); })
      .def_prop_ro("starts", &starts_of, "For each axis, where windows begin in the padded image.")
      .def("__len__", &SlidingWindow::count, "Windows of an image.")
      .def(
          "place", [](const SlidingWindow& w, std::int64_t window) { return tuple_of(w.place(window)); },
          nb::arg("window"), "Where a window begins in the padded image; the last axis varies fastest.")
      .def(
          "weights", [](const SlidingWindow& w) { return own_array(w.weights()); }, "float32 [roi...].")
      .def("cut", &cut, nb::arg("images"), nb::arg("first"), nb::arg("count"), nb::arg("dtype").none() = nb::none(),
           nb::arg("threads") = 0,
           "Windows first to first + count - 1 of all images [image, channel, spatial...], as [count, channel, roi...] "
           "of the images' kind.");
  nb::class_<PyStitcher>(m, "WindowStitcher", "Blends predictions of windows, which come in the order of the windows.")
      .def(
          "__init__",
          [](PyStitcher* self, const SlidingWindow& windows, std::int64_t images, const std::string& activation,
             const std::string& reduce, double threshold, int threads, nb::handle out, nb::handle grid,
             nb::handle interpolation) {
            new (self) PyStitcher(
                windows, images, stitch_options({activation, reduce, threshold, threads, grid, interpolation}), out);
          },
          nb::arg("windows"), nb::arg("images") = 1, nb::kw_only(), nb::arg("activation") = "none",
          nb::arg("reduce") = "none", nb::arg("threshold") = 0.5, nb::arg("threads") = 0,
          nb::arg("out").none() = nb::none(), nb::arg("grid").none() = nb::none(), nb::arg("interpolation") = "linear",
          "out: an array [image, channel, spatial...] for each output, which is filled in place of a new one. grid: "
          "spatial extents to which means are resampled before activation and reduction, interpolation: linear or "
          "nearest, for all axes or each.")
      .def("add", &PyStitcher::add, nb::arg("outputs"), nb::arg("weights").none() = nb::none(),
           "Predictions of the next windows: an array [windows, channel, spatial...], or a sequence of them, one for "
           "each output.")
      .def_prop_ro("added", [](const PyStitcher& s) { return s.stitcher.added(); })
      .def("finish", &PyStitcher::finish,
           "A list of arrays [image, channel, spatial...], one for each output: NumPy's, or those of `out`.");
}

void bind_imaging(nb::module_& m) {
  bind_windows(m);
  bind_sweep(m);
}

}  // namespace tenfold::python
