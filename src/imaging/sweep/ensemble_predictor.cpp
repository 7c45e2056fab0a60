// Several engines on the same windows: the mean of their outputs.
#include <algorithm>

#include "base/check.h"
#include "sweep/predictor.h"
#include "sweep/window_engine.h"
#include "tenfold/engine.h"
#include "windows/row_kernels.h"
#include "windows/window_state.h"

namespace tenfold::imaging {
namespace {

constexpr std::int64_t kPart = 1 << 14;   // elements that a thread adds at once

class EnsemblePredictor final : public Predictor {
 public:
  EnsemblePredictor(std::vector<std::unique_ptr<Predictor>> members, const Shape& window, const StitchOptions& options)
      : members_(std::move(members)), elements_(element_count(window)) {
    batch_ = members_[0]->batch(), dtype_ = members_[0]->dtype();
    for (const std::unique_ptr<Predictor>& one : members_) {
      batch_ = std::min(batch_, one->batch());
      if (one->dtype() != dtype_) dtype_ = DType::f32;
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      convert_.push_back(windows::row_converter(dtype_, members_[i]->dtype()));
      require(convert_[i] != nullptr, ErrorKind::invalid_argument, "engine ", i, " of the ensemble takes windows of ",
              name(members_[i]->dtype()), ", engine 0 of ", name(members_[0]->dtype()),
              ": expected one type, or f32, f64, f16 and bf16");
    }
    pool_ = windows::make_parallel(options.threads, batch_ * elements_);
    windows_.resize(static_cast<std::size_t>(byte_size(dtype_, batch_ * elements_)));
  }
  std::int64_t batch() const override { return batch_; }
  DType dtype() const override { return dtype_; }
  void* windows() override { return windows_.data(); }

  std::vector<Tensor> run(std::int64_t count, std::int64_t first) override {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      convert_[i](windows_.data(), members_[i]->windows(), count * elements_);
      const std::vector<Tensor> outputs = members_[i]->run(count, first);
      if (i == 0) take_shapes(outputs);
      check_shapes(outputs, i);
      for (std::size_t o = 0; o < outputs.size(); ++o) add(outputs[o], i, means_[o]);
    }
    std::vector<Tensor> results;
    for (const Tensor& one : means_)
      results.emplace_back(DType::f32, one.shape(), std::make_shared<int>(), one.raw());
    return results;
  }

 private:
  // Memory is kept from one batch to the next.
  void take_shapes(const std::vector<Tensor>& outputs) {
    means_.resize(outputs.size());
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (means_[o].shape() != outputs[o].shape()) means_[o] = Tensor(DType::f32, outputs[o].shape());
  }
  void check_shapes(const std::vector<Tensor>& outputs, std::size_t member) const {
    require(outputs.size() == means_.size(), ErrorKind::invalid_argument, "engine ", member, " of the ensemble gave ",
            outputs.size(), " outputs, engine 0 ", means_.size(), ": expected the same");
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      require(outputs[o].shape() == means_[o].shape(), ErrorKind::invalid_argument, "output ", o, " of engine ", member,
              " of the ensemble is [", text(outputs[o].shape()), "], that of engine 0 [", text(means_[o].shape()),
              "]: expected the same");
      require(windows::row_to_f32(outputs[o].dtype()) != nullptr, ErrorKind::invalid_argument, "output ", o,
              " of engine ", member, " of the ensemble has elements of type ", name(outputs[o].dtype()),
              ", expected f32, f16, bf16, f64 or integers");
    }
  }
  // In the members' order, and with the last one divided: no thread changes the bits.
  void add(const Tensor& output, std::size_t member, Tensor& mean) {
    const windows::ConvertRow to_f32 = windows::row_to_f32(output.dtype());
    const std::int64_t step = byte_size(output.dtype(), 1);
    float* const sums = mean.mutable_data<float>();
    const bool last = member + 1 == members_.size();
    const auto divisor = static_cast<float>(members_.size());
    pool_->for_each((output.size() + kPart - 1) / kPart, [&](std::int64_t part, int) {
      const std::int64_t begin = part * kPart, count = std::min(kPart, output.size() - begin);
      const std::byte* const from = static_cast<const std::byte*>(output.raw()) + begin * step;
      float* const to = sums + begin;
      if (member == 0) return to_f32(from, to, count);
      float values[1024];
      for (std::int64_t done = 0; done < count; done += 1024) {
        const std::int64_t few = std::min<std::int64_t>(1024, count - done);
        to_f32(from + done * step, values, few);
        for (std::int64_t k = 0; k < few; ++k) to[done + k] += values[k];
        if (!last) continue;
        for (std::int64_t k = 0; k < few; ++k) to[done + k] /= divisor;
      }
    });
  }

  std::vector<std::unique_ptr<Predictor>> members_;
  std::unique_ptr<Parallel> pool_;
  std::vector<windows::ConvertRow> convert_;   // by member: from the windows here to its own
  std::vector<std::byte> windows_;
  std::vector<Tensor> means_;
  std::int64_t elements_, batch_ = 1;          // of a window
  DType dtype_ = DType::f32;
};

std::vector<std::string> outputs_of(const Engine& engine) {
  std::vector<std::string> names;
  for (const BindingInfo& one : engine.bindings())
    if (!one.is_input) names.push_back(one.name);
  return names;
}

// Outputs count by their order; where there are several, their names must agree with that.
void check_names(const Engine& engine, const Engine& first) {
  const std::vector<std::string> names = outputs_of(engine), expected = outputs_of(first);
  if (names.size() == 1 && expected.size() == 1) return;
  for (std::size_t o = 0; o < std::max(names.size(), expected.size()); ++o) {
    const auto name = [o](const std::vector<std::string>& all) { return o < all.size() ? "'" + all[o] + "'" : "none"; };
    require(name(names) == name(expected), ErrorKind::invalid_argument, "output ", o, " is ", name(names),
            ", of engine 0 ", name(expected), ": expected the same outputs in the same order");
  }
}

}  // namespace

std::vector<std::unique_ptr<WindowEngine>> ensemble_engines(const SlidingWindow& windows, std::int64_t channels,
                                                            std::span<const Engine> engines,
                                                            const SweepOptions& options) {
  require(!engines.empty(), ErrorKind::invalid_argument, "an ensemble of no engines: expected at least one");
  std::vector<std::unique_ptr<WindowEngine>> members;
  for (std::size_t i = 0; i < engines.size(); ++i) {
    try {
      check_names(engines[i], engines[0]);
      members.push_back(std::make_unique<WindowEngine>(windows, channels, engines[i], options.window_batch));
    } catch (Error& error) {
      error.within(cat("engine ", i, " of the ensemble"));
      throw;
    }
  }
  return members;
}

std::unique_ptr<Predictor> ensemble_predictor(const SlidingWindow& windows, std::int64_t channels,
                                              std::vector<std::unique_ptr<WindowEngine>> engines,
                                              const SweepOptions& options) {
  std::vector<std::unique_ptr<Predictor>> members;
  for (std::unique_ptr<WindowEngine>& one : engines) members.push_back(engine_predictor(std::move(one)));
  Shape window = {channels};
  window.insert(window.end(), windows.roi().begin(), windows.roi().end());
  return std::make_unique<EnsemblePredictor>(std::move(members), window, options.stitch);
}

}  // namespace tenfold::imaging
