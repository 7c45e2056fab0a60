// Windows of an image from C: where they lie, what they weigh, and how they are cut.
#include "c/imaging/imaging.h"

using namespace tenfold;
using namespace tenfold::c;

namespace {

// The default where the caller gives none.
template <class List, class T>
void take_list(const T* from, std::int32_t count, const char* what, List& to) {
  require(count >= 0 && (count == 0 || from != nullptr), ErrorKind::invalid_argument, what, " has ", count, " values at ",
          from ? "its pointer" : "null");
  if (count > 0) to.assign(from, from + count);
}

}  // namespace

SlidingWindowOptions tenfold::c::window_options_of(const tenfold_sliding_window_options* given) {
  const auto c = taken(given, "the options");
  SlidingWindowOptions options;
  take_list(c.roi, c.roi_count, "roi", options.roi);
  require(c.roi_count > 0, ErrorKind::invalid_argument, "roi: expected the window, an extent for all axes or one for each");
  take_list(c.overlap, c.overlap_count, "overlap", options.overlap);
  take_list(c.sigma_scale, c.sigma_scale_count, "sigma_scale", options.sigma_scale);
  take_list(c.halo, c.halo_count, "halo", options.halo);
  if (c.mode) options.mode = parse_window_mode(c.mode);
  if (c.placement) options.placement = parse_window_placement(c.placement);
  if (c.padding) options.padding = parse_window_padding(c.padding);
  if (c.weights) options.weights = c.weights->value.tensor();
  options.cval = c.cval;
  return options;
}

extern "C" tenfold_status tenfold_sliding_window_create(const int64_t* image, int32_t rank,
                                                        const tenfold_sliding_window_options* options,
                                                        tenfold_sliding_window** windows) {
  return guarded([&] {
    place(windows, "the place for the windows", [&] {
      return new tenfold_sliding_window{SlidingWindow(shape_of(image, rank), window_options_of(options))};
    });
  });
}
extern "C" void tenfold_sliding_window_free(tenfold_sliding_window* windows) { delete windows; }

extern "C" tenfold_status tenfold_sliding_window_info(const tenfold_sliding_window* windows,
                                                      tenfold_sliding_window_information* info) {
  return guarded([&] {
    const tenfold_sliding_window& own = need(windows, "the windows");
    give(info,
         {0, own.windows.image().data(), own.windows.roi().data(), own.padded.data(), own.pad_before.data(), own.pad_after.data(),
          own.windows.count(), static_cast<std::int32_t>(own.padded.size()), 0},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_sliding_window_starts(const tenfold_sliding_window* windows, int32_t axis, int64_t* starts,
                                                        int32_t* count) {
  return guarded([&] { give_list(element(need(windows, "the windows").starts, axis, "axis"), starts, count, "starts"); });
}
extern "C" tenfold_status tenfold_sliding_window_place(const tenfold_sliding_window* windows, int64_t window, int64_t* begin) {
  return guarded([&] {
    const Shape at = need(windows, "the windows").windows.place(window);
    std::copy(at.begin(), at.end(), &need(begin, "the place for the window's begin"));
  });
}
extern "C" tenfold_status tenfold_sliding_window_weights(const tenfold_sliding_window* windows, tenfold_data** weights) {
  return guarded([&] {
    place(weights, "the place for the weights", [&] { return new tenfold_data{need(windows, "the windows").windows.weights()}; });
  });
}
extern "C" tenfold_status tenfold_sliding_window_cut(const tenfold_sliding_window* windows, const tenfold_data* images, int64_t first,
                                                     int64_t count, const char* dtype, void* to, size_t bytes, int32_t threads) {
  return guarded([&] {
    const SlidingWindow& own = need(windows, "the windows").windows;
    const Tensor& tensor = need(images, "the images").value.tensor();
    const DType type = dtype ? dtype_of(dtype) : tensor.dtype();
    require(count >= 0 && tensor.rank() > 1, ErrorKind::invalid_argument, count, " windows of images of ", tensor.rank(),
            " axes: expected at least none, of [image, channel, spatial...]");
    Shape shape = {count, tensor.shape()[1]};
    shape.insert(shape.end(), own.roi().begin(), own.roi().end());
    const auto expected = static_cast<std::size_t>(byte_size(type, element_count(shape)));
    require(bytes == expected, ErrorKind::invalid_argument, "the place for ", count, " windows has ", bytes, " bytes, ", expected,
            " were expected");
    own.cut(tensor, first, count, type, &need(static_cast<char*>(to), "the place for the windows"), threads);
  });
}
