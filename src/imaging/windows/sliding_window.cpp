// SlidingWindow: options checked, and turned into axes and weights.
#include "tenfold/sliding_window.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/threads/cpu_count.h"
#include "base/threads/thread_pool.h"
#include "windows/window_state.h"
#include "windows/weights.h"

namespace tenfold {
namespace {

// One value for all axes, or one for each.
template <class T>
T of_axis(const std::vector<T>& values, std::size_t axis, std::size_t rank, const char* name) {
  require(values.size() == 1 || values.size() == rank, ErrorKind::invalid_argument, name, " has ", values.size(),
          " values, the image ", rank, " spatial axes; expected one for all of them or one for each");
  return values.size() == 1 ? values[0] : values[axis];
}

windows::Grid make_grid(const Shape& image, const SlidingWindowOptions& options) {
  const std::size_t rank = image.size();
  require(rank >= 1 && rank <= 4, ErrorKind::invalid_argument, "an image of ", rank, " spatial axes: expected 1 to 4");
  windows::Grid grid;
  if (rank == 1) grid.push_back(windows::make_axis(1, 1, 0, 0, options.placement));
  for (std::size_t a = 0; a < rank; ++a) {
    require(image[a] > 0, ErrorKind::invalid_argument, "the image's extent of axis ", a, " is ", image[a],
            ": expected at least 1");
    const double overlap = of_axis(options.overlap, a, rank, "overlap");
    require(overlap >= 0 && overlap < 1, ErrorKind::invalid_argument, "overlap ", overlap,
            ": expected at least 0 and less than 1");
    const bool halo = options.mode == WindowMode::halo;
    require(!halo || !options.halo.empty(), ErrorKind::invalid_argument,
            "mode halo: expected `halo`, the voxels at a window's edge that do not count");
    require(halo || options.halo.empty(), ErrorKind::invalid_argument, "`halo` is for mode halo alone");
    grid.push_back(windows::make_axis(image[a], of_axis(options.roi, a, rank, "roi"), overlap,
                                      halo ? of_axis(options.halo, a, rank, "halo") : 0, options.placement));
  }
  return grid;
}

std::vector<float> make_weights(const Shape& roi, const SlidingWindowOptions& options) {
  if (options.weights.defined()) {
    require(options.mode != WindowMode::halo, ErrorKind::invalid_argument,
            "mode halo has weights of its own; give either of them");
    return windows::given_weights(options.weights, roi);
  }
  if (options.mode != WindowMode::gaussian) return {};
  std::vector<double> scale;
  for (std::size_t a = 0; a < roi.size(); ++a) {
    scale.push_back(of_axis(options.sigma_scale, a, roi.size(), "sigma_scale"));
    require(scale.back() > 0 && std::isfinite(scale.back()), ErrorKind::invalid_argument, "sigma_scale ", scale.back(),
            ": expected more than 0");
  }
  return windows::gaussian_weights(roi, scale);
}

Shape by_axis(const Shape& image, const windows::Grid& grid, std::int64_t (*value)(const windows::Axis&)) {
  Shape values;
  for (std::size_t a = grid.size() - image.size(); a < grid.size(); ++a) values.push_back(value(grid[a]));
  return values;
}

}  // namespace

windows::WindowState::WindowState(const Shape& image_, const SlidingWindowOptions& options)
    : image(image_),
      grid(make_grid(image_, options)),
      padding(options.padding),
      cval(options.cval),
      cutter(grid, options.padding, options.cval) {
  roi = by_axis(image, grid, [](const windows::Axis& axis) { return axis.roi; });
  weights = make_weights(roi, options);
}

SlidingWindow::SlidingWindow(const Shape& image, const SlidingWindowOptions& options)
    : state_(std::make_shared<const windows::WindowState>(image, options)) {}

const Shape& SlidingWindow::image() const { return state_->image; }
const Shape& SlidingWindow::roi() const { return state_->roi; }
Shape SlidingWindow::padded() const {
  return by_axis(state_->image, state_->grid, [](const windows::Axis& axis) { return axis.padded; });
}
Shape SlidingWindow::pad_before() const {
  return by_axis(state_->image, state_->grid, [](const windows::Axis& axis) { return axis.before; });
}
Shape SlidingWindow::pad_after() const {
  return by_axis(state_->image, state_->grid,
                 [](const windows::Axis& axis) { return axis.padded - axis.image - axis.before; });
}
std::vector<Shape> SlidingWindow::starts() const {
  std::vector<Shape> starts;
  for (std::size_t a = state_->grid.size() - state_->image.size(); a < state_->grid.size(); ++a)
    starts.push_back(state_->grid[a].starts);
  return starts;
}
std::int64_t SlidingWindow::count() const { return windows::count(state_->grid); }

Shape SlidingWindow::place(std::int64_t window) const {
  require(window >= 0 && window < count(), ErrorKind::invalid_argument, "window ", window, ": an image has ", count());
  const std::vector<std::size_t> at = windows::indices(state_->grid, window);
  Shape place;
  for (std::size_t a = state_->grid.size() - state_->image.size(); a < at.size(); ++a)
    place.push_back(state_->grid[a].starts[at[a]]);
  return place;
}

Tensor SlidingWindow::weights() const {
  Tensor map(DType::f32, state_->roi);
  if (state_->weights.empty())
    std::fill_n(map.mutable_data<float>(), map.size(), 1.0f);
  else
    std::copy(state_->weights.begin(), state_->weights.end(), map.mutable_data<float>());
  return map;
}

void SlidingWindow::cut(const Tensor& images, std::int64_t first, std::int64_t number, DType dtype, void* to,
                        int threads) const {
  windows::check_images(*state_, images.shape());
  const std::int64_t total = images.shape()[0] * count();
  require(first >= 0 && number >= 0 && number <= total - first, ErrorKind::invalid_argument, "windows ", first, " to ",
          first + number, ": the images have ", total);
  std::vector<windows::Cutter::Cut> cuts;
  for (std::int64_t w = first; w < first + number; ++w)
    cuts.push_back({windows::view_of(*state_, images.raw(), images.dtype(), images.shape(), w / count()), w % count()});
  const std::unique_ptr<Parallel> pool =
      windows::make_parallel(threads, number * images.shape()[1] * element_count(state_->roi));
  state_->cutter.cut(cuts, dtype, to, *pool);
}

namespace windows {

void check_images(const WindowState& windows, const Shape& images) {
  const bool fits = images.size() == windows.image.size() + 2 &&
                    std::equal(windows.image.begin(), windows.image.end(), images.begin() + 2);
  require(fits, ErrorKind::invalid_argument, "images are [", text(images), "], expected [image, channel, ",
          text(windows.image), "], for which the windows were made");
}

ImageView view_of(const WindowState& windows, const void* data, DType dtype, const Shape& images, std::int64_t image) {
  std::int64_t elements = 1;
  for (std::size_t a = 1; a < images.size(); ++a) elements *= images[a];
  return {static_cast<const std::byte*>(data) + byte_size(dtype, elements) * image, dtype, images[1],
          windows.grid[0].image};
}

std::unique_ptr<Parallel> make_parallel(int threads, std::int64_t elements) {
  constexpr std::int64_t kFew = 1 << 16;
  check_threads(threads, "sliding windows");
  if (threads == 0) threads = elements < kFew ? 1 : default_threads();
  if (threads == 1) return std::make_unique<Serial>();
  // Between their jobs the network runs, which needs the processors that they would wait on.
  return std::make_unique<ThreadPool>(ThreadPoolOptions{.threads = threads, .spin_microseconds = 20});
}

}  // namespace windows
}  // namespace tenfold
