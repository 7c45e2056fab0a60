// The engine's input is found, and the profile that takes the windows.
#include "sweep/window_engine.h"

#include <algorithm>

#include "base/check.h"
#include "tenfold/internal/idle_contexts.h"

namespace tenfold::imaging {
namespace {

// The first profile whose range takes these windows, and the least and largest batch of it.
struct Profile { std::int64_t min_batch, max_batch; };

Profile profile_for(const Engine& engine, const BindingInfo& input, Shape windows) {
  for (int p = 0; p < engine.info().profiles; ++p) {
    const Engine::ProfileShapes range = engine.profile_shapes(p, input.name);
    if (range.min.size() != windows.size()) break;
    bool fits = true;
    for (std::size_t a = 1; a < windows.size(); ++a)
      fits = fits && range.min[a] <= windows[a] && windows[a] <= range.max[a];
    if (fits) return {range.min[0], range.max[0]};
  }
  windows.erase(windows.begin());
  fail(ErrorKind::invalid_argument, cat("the engine's input '", input.name, "' is [", text(input.shape),
                                        "] (-1: dynamic) and takes no windows of [batch, ", text(windows),
                                        "]: choose another roi, or build an engine whose profile has these extents"));
}

}  // namespace

WindowEngine::WindowEngine(const SlidingWindow& windows, std::int64_t channels, const Engine& engine,
                           std::int64_t wanted)
    : engine_(engine), shape_({0, channels}) {
  require(wanted > 0, ErrorKind::invalid_argument, "window_batch ", wanted, ": expected at least 1");
  shape_.insert(shape_.end(), windows.roi().begin(), windows.roi().end());
  const std::vector<BindingInfo>& all = engine_.bindings();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].is_input) outputs_.push_back(static_cast<int>(i));
    if (!all[i].is_input || all[i].has_default) continue;
    require(input_ < 0, ErrorKind::invalid_argument, "the engine has the inputs '",
            all[static_cast<std::size_t>(std::max(input_, 0))].name, "' and '", all[i].name,
            "': expected one, for windows; use a function as predictor");
    input_ = static_cast<int>(i);
  }
  require(input_ >= 0, ErrorKind::invalid_argument, "the engine has no input");
  const Profile profile = profile_for(engine_, input(), shape_);
  min_batch_ = profile.min_batch, batch_ = std::clamp(wanted, profile.min_batch, profile.max_batch);
  context_ = borrow_context(engine_);
  set_batch(batch_);
}

std::int64_t WindowEngine::window_bytes() const {
  return byte_size(input().dtype, element_count(shape_) / shape_[0]);
}

void WindowEngine::set_batch(std::int64_t batch) {
  if (shape_[0] == batch) return;
  shape_[0] = batch;
  check(context_->set_input_shape(input_, shape_));
}

Shape WindowEngine::output_shape(int output) const {
  Shape shape = context_->shape(output);
  require(!shape.empty() && shape[0] == shape_[0], ErrorKind::invalid_argument, "the engine's output '",
          binding(output).name, "' is [", text(shape), "] for ", shape_[0],
          " windows: expected that many along axis 0");
  return shape;
}

void WindowEngine::check(Status status) const {
  if (status) return;
  const ErrorKind kind = status.code == Status::cancelled       ? ErrorKind::cancelled
                         : status.code == Status::out_of_memory ? ErrorKind::out_of_memory
                         : status.code == Status::device        ? ErrorKind::device
                                                                : ErrorKind::invalid_argument;
  fail(kind, "the engine on windows: " + context_->describe(status));
}

}  // namespace tenfold::imaging
