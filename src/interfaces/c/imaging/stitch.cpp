// Predictions of windows to the caller's sinks, from C.
#include "c/imaging/imaging.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_window_stitcher {
  WindowStitcher stitcher;
};

namespace {

class FunctionSink final : public ImageSink {
 public:
  FunctionSink(const tenfold_image_sinks& sinks, std::size_t output) : sinks_(sinks), output_(static_cast<std::int32_t>(output)) {}
  void open(DType dtype, const Shape& shape) override {
    const tenfold_status status =
        sinks_.open(sinks_.user, output_, name(dtype).data(), shape.data(), static_cast<std::int32_t>(shape.size()), &memory_);
    require(status == TENFOLD_OK, kind_of(status), "opening output ", output_, " gave the status ", status);
    require(memory_ != nullptr || sinks_.write != nullptr, ErrorKind::invalid_argument, "the sinks have no function to write output ",
            output_, ", and opening it gave no memory");
  }
  void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent, const void* from) override {
    const tenfold_status status = sinks_.write(sinks_.user, output_, image, begin.data(), extent.data(), from);
    require(status == TENFOLD_OK, kind_of(status), "writing output ", output_, " from plane ", begin[0], " gave the status ", status);
  }
  void* memory() override { return sinks_.on_gpu == 0 ? memory_ : nullptr; }
  void* gpu_memory() override { return sinks_.on_gpu != 0 ? memory_ : nullptr; }

 private:
  tenfold_image_sinks sinks_;
  std::int32_t output_;
  void* memory_ = nullptr;
};

}  // namespace

StitchOptions tenfold::c::stitch_options_of(const tenfold_stitch_options* given) {
  StitchOptions options;
  if (!given) return options;
  const auto c = taken(given, "the stitch options");
  if (c.activation) options.activation = parse_output_activation(c.activation);
  if (c.reduction) options.reduction = parse_output_reduction(c.reduction);
  if (c.threshold) options.threshold = *c.threshold;
  options.threads = c.threads;
  require(c.grid_rank >= 0 && (c.grid_rank == 0 || c.grid != nullptr), ErrorKind::invalid_argument, "grid has ", c.grid_rank,
          " extents at ", c.grid ? "its pointer" : "null");
  if (c.grid_rank > 0) options.grid.assign(c.grid, c.grid + c.grid_rank);
  require(c.interpolation_count >= 0 && (c.interpolation_count == 0 || c.interpolation), ErrorKind::invalid_argument,
          "interpolation has ", c.interpolation_count, " names at ", c.interpolation ? "its pointer" : "null");
  if (c.interpolation_count > 0) options.interpolation.clear();
  for (std::int32_t i = 0; i < c.interpolation_count; ++i)
    options.interpolation.push_back(parse_grid_interpolation(&need(c.interpolation[i], "a name of interpolation")));
  return options;
}

Tensor tenfold::c::borrowed(const tenfold_tensor_info& given, const std::string& what) {
  const auto c = taken(&given, what.c_str());
  const DType dtype = dtype_of(c.dtype);
  require(dtype != DType::string, ErrorKind::invalid_argument, what, " is of strings, numbers were expected");
  Shape shape = shape_of(c.shape, c.rank);
  const auto expected = static_cast<std::size_t>(byte_size(dtype, element_count(shape)));
  require(c.bytes == expected, ErrorKind::invalid_argument, what, " has ", c.bytes, " bytes, ", expected, " were expected");
  require(c.data != nullptr || expected == 0, ErrorKind::invalid_argument, what, " has no data");
  return Tensor(dtype, std::move(shape), std::make_shared<int>(), c.data);
}

MakeSink tenfold::c::sinks_of(const tenfold_image_sinks* given) {
  const auto sinks = taken(given, "the sinks");
  require(sinks.open != nullptr, ErrorKind::invalid_argument, "the sinks have no function to open an output");
  return [sinks](std::size_t output) { return std::make_shared<FunctionSink>(sinks, output); };
}

extern "C" tenfold_status tenfold_window_stitcher_create(const tenfold_sliding_window* windows, int64_t images,
                                                         const tenfold_image_sinks* sinks, const tenfold_stitch_options* options,
                                                         tenfold_window_stitcher** stitcher) {
  return guarded([&] {
    place(stitcher, "the place for the stitcher", [&] {
      return new tenfold_window_stitcher{
          WindowStitcher(need(windows, "the windows").windows, images, sinks_of(sinks), stitch_options_of(options))};
    });
  });
}
extern "C" void tenfold_window_stitcher_free(tenfold_window_stitcher* stitcher) { delete stitcher; }

extern "C" tenfold_status tenfold_window_stitcher_add(tenfold_window_stitcher* stitcher, const tenfold_tensor_info* outputs,
                                                      int32_t count, const tenfold_data* weights) {
  return guarded([&] {
    WindowStitcher& own = need(stitcher, "the stitcher").stitcher;
    require(count >= 0 && (count == 0 || outputs), ErrorKind::invalid_argument, "there are no ", count, " outputs");
    std::vector<Tensor> tensors;
    for (std::int32_t i = 0; i < count; ++i) tensors.push_back(borrowed(outputs[i], cat("output ", i)));
    own.add(tensors, weights ? weights->value.tensor() : Tensor());
  });
}
extern "C" int64_t tenfold_window_stitcher_added(const tenfold_window_stitcher* stitcher) {
  return stitcher ? stitcher->stitcher.added() : 0;
}
extern "C" tenfold_status tenfold_window_stitcher_finish(tenfold_window_stitcher* stitcher) {
  return guarded([&] { need(stitcher, "the stitcher").stitcher.finish(); });
}
