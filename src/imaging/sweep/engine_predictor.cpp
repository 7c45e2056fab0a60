// An engine as predictor: windows are cut into its context's own memory, and its outputs are added from there.
#include <algorithm>
#include <cstring>

#include "sweep/predictor.h"
#include "sweep/window_engine.h"

namespace tenfold::imaging {
namespace {

class EnginePredictor final : public Predictor {
 public:
  explicit EnginePredictor(std::unique_ptr<WindowEngine> engine) : engine_(std::move(engine)) {
    for (const int output : engine_->outputs()) engine_->context().own_memory(output);   // which binds it
    memory_ = static_cast<std::byte*>(engine_->context().own_memory(engine_->input_number()));
  }
  std::int64_t batch() const override { return engine_->batch(); }
  DType dtype() const override { return engine_->input().dtype; }
  void* windows() override { return memory_; }

  std::vector<Tensor> run(std::int64_t count, std::int64_t) override {
    const std::int64_t computed = std::max(count, engine_->min_batch());   // of a fixed batch all of it is computed
    const std::int64_t bytes = engine_->window_bytes();
    if (computed > count) std::memset(memory_ + count * bytes, 0, static_cast<std::size_t>((computed - count) * bytes));
    engine_->set_batch(computed);
    engine_->check(engine_->context().run());
    std::vector<Tensor> tensors;
    for (const int output : engine_->outputs()) {
      Shape shape = engine_->output_shape(output);
      shape[0] = count;
      tensors.emplace_back(engine_->binding(output).dtype, shape, std::make_shared<int>(),
                           engine_->context().own_memory(output));
    }
    return tensors;
  }

 private:
  std::unique_ptr<WindowEngine> engine_;
  std::byte* memory_ = nullptr;
};

}  // namespace

std::unique_ptr<Predictor> engine_predictor(std::unique_ptr<WindowEngine> engine) {
  return std::make_unique<EnginePredictor>(std::move(engine));
}

}  // namespace tenfold::imaging
