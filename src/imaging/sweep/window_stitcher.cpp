// WindowStitcher: a stitcher of all results.
#include "sweep/stitcher.h"

namespace tenfold {
namespace {

imaging::Stitcher whole(const SlidingWindow& windows, std::int64_t images, MakeSink make_sink,
                        const StitchOptions& options) {
  const windows::WindowState& own = windows::WindowAccess::of(windows);
  const imaging::OutputOptions outputs(own, images, options);
  return {windows, outputs, imaging::whole_part(own.grid, outputs), std::move(make_sink), options.threads};
}

}  // namespace

struct WindowStitcher::Impl {
  explicit Impl(imaging::Stitcher whole) : stitcher(std::move(whole)) {}
  imaging::Stitcher stitcher;
};

WindowStitcher::WindowStitcher(const SlidingWindow& windows, std::int64_t images, MakeSink make_sink,
                               const StitchOptions& options)
    : impl_(std::make_unique<Impl>(whole(windows, images, std::move(make_sink), options))) {}
WindowStitcher::WindowStitcher(WindowStitcher&&) noexcept = default;
WindowStitcher::~WindowStitcher() = default;

void WindowStitcher::add(std::span<const Tensor> outputs, const Tensor& weights) {
  impl_->stitcher.add(outputs, weights);
}
std::int64_t WindowStitcher::added() const { return impl_->stitcher.added(); }
void WindowStitcher::finish() { impl_->stitcher.finish(); }

ImageSource::~ImageSource() = default;
ImageSink::~ImageSink() = default;

}  // namespace tenfold
