// An engine as predictor: windows are cut into its context's own memory, and its outputs are added from there.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "sweep/predictor.h"
#include "tenfold/engine.h"

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

class EnginePredictor final : public Predictor {
 public:
  EnginePredictor(const Engine& engine, const Shape& windows, std::int64_t wanted) : engine_(engine), shape_(windows) {
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
    context_ = engine_.create_context();
    set_batch(batch_);
    for (const int output : outputs_) context_->own_memory(output);   // which binds it
    window_bytes_ = byte_size(dtype(), element_count(shape_) / shape_[0]);
    memory_ = static_cast<std::byte*>(context_->own_memory(input_));
  }
  std::int64_t batch() const override { return batch_; }
  DType dtype() const override { return input().dtype; }
  void* windows() override { return memory_; }

  std::vector<Tensor> run(std::int64_t count, std::int64_t) override {
    const std::int64_t computed = std::max(count, min_batch_);   // an engine of a fixed batch computes all of it
    if (computed > count)
      std::memset(memory_ + count * window_bytes_, 0, static_cast<std::size_t>((computed - count) * window_bytes_));
    set_batch(computed);
    check_status(context_->run());
    std::vector<Tensor> tensors;
    for (const int output : outputs_) {
      Shape shape = context_->shape(output);
      require(!shape.empty() && shape[0] == computed, ErrorKind::invalid_argument, "the engine's output '",
              engine_.bindings()[static_cast<std::size_t>(output)].name, "' is [", text(shape), "] for ", computed,
              " windows: expected that many along axis 0");
      shape[0] = count;
      tensors.emplace_back(engine_.bindings()[static_cast<std::size_t>(output)].dtype, shape, std::make_shared<int>(),
                           context_->own_memory(output));
    }
    return tensors;
  }

 private:
  const BindingInfo& input() const { return engine_.bindings()[static_cast<std::size_t>(input_)]; }
  void set_batch(std::int64_t batch) {
    if (shape_[0] == batch) return;
    shape_[0] = batch;
    check_status(context_->set_input_shape(input_, shape_));
  }
  void check_status(Status status) const {
    if (status) return;
    const ErrorKind kind = status.code == Status::cancelled       ? ErrorKind::cancelled
                           : status.code == Status::out_of_memory ? ErrorKind::out_of_memory
                           : status.code == Status::device        ? ErrorKind::device
                                                                  : ErrorKind::invalid_argument;
    fail(kind, "the engine on windows: " + context_->describe(status));
  }

  Engine engine_;
  std::unique_ptr<ExecutionContext> context_;
  std::vector<int> outputs_;
  int input_ = -1;
  Shape shape_;                      // of the input; a batch of 0 was never set
  std::int64_t min_batch_ = 1, batch_ = 1, window_bytes_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace

std::unique_ptr<Predictor> engine_predictor(const SlidingWindow& windows, std::int64_t channels, const Engine& engine,
                                            const SweepOptions& options) {
  require(options.window_batch > 0, ErrorKind::invalid_argument, "window_batch ", options.window_batch,
          ": expected at least 1");
  Shape shape = {0, channels};
  shape.insert(shape.end(), windows.roi().begin(), windows.roi().end());
  return std::make_unique<EnginePredictor>(engine, shape, options.window_batch);
}

}  // namespace tenfold::imaging
