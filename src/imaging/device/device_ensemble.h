// Several predictors on the same windows, on one GPU: the mean of their outputs, in f32.
#pragma once

#include <memory>
#include <vector>

#include "device/device_predictor.h"
#include "device/window_kernels.h"

namespace tenfold::imaging {

class DeviceEnsemble final : public DevicePredictor {
 public:
  // Throws invalid_argument where outputs differ, unsupported where there are more than kMaxEngines members.
  DeviceEnsemble(DeviceWork& work, std::vector<std::unique_ptr<DevicePredictor>> members);
  std::int64_t batch() const override { return batch_; }
  std::vector<Input> inputs() const override;
  const std::vector<Output>& outputs() const override { return outputs_; }
  void enqueue(void* stream) override;
  void finish() override;

 private:
  DeviceWork& work_;
  WindowKernels kernels_;
  std::vector<std::unique_ptr<DevicePredictor>> members_;
  std::int64_t batch_;
  std::vector<std::shared_ptr<void>> means_;
  std::vector<Output> outputs_;
};

}  // namespace tenfold::imaging
