// A function of the caller's as predictor.
#include "base/check.h"
#include "sweep/predictor.h"

namespace tenfold::imaging {
namespace {

class FunctionPredictor final : public Predictor {
 public:
  FunctionPredictor(const Shape& shape, DType dtype, const WindowPredictor& predict)
      : predict_(predict), windows_(dtype, shape) {}
  std::int64_t batch() const override { return windows_.shape()[0]; }
  DType dtype() const override { return windows_.dtype(); }
  void* windows() override { return windows_.mutable_raw(); }
  std::vector<Tensor> run(std::int64_t count, std::int64_t first) override {
    Shape shape = windows_.shape();
    shape[0] = count;
    std::vector<Tensor> outputs =
        predict_(Tensor(windows_.dtype(), shape, std::make_shared<int>(), windows_.raw()), first);
    for (const Tensor& one : outputs)
      require(one.defined() && one.rank() > 0 && one.shape()[0] == count, ErrorKind::invalid_argument,
              "the predictor gave an output of [", text(one.shape()), "] for ", count,
              " windows: expected that many along axis 0");
    return outputs;
  }

 private:
  const WindowPredictor& predict_;
  Tensor windows_;
};

}  // namespace

std::unique_ptr<Predictor> function_predictor(const SlidingWindow& windows, std::int64_t channels,
                                              const WindowPredictor& predict, const SweepOptions& options) {
  require(options.window_batch > 0, ErrorKind::invalid_argument, "window_batch ", options.window_batch,
          ": expected at least 1");
  Shape shape = {options.window_batch, channels};
  shape.insert(shape.end(), windows.roi().begin(), windows.roi().end());
  return std::make_unique<FunctionPredictor>(shape, options.input, predict);
}

}  // namespace tenfold::imaging
