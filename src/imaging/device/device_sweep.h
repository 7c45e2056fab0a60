// A sweep whose images, sums and results of the network lie on a GPU.
#pragma once

#include "device/device_predictor.h"
#include "tenfold/internal/device_work.h"
#include "tenfold/sliding_window.h"

namespace tenfold::imaging {

// Whether the kernels know these types.
bool sweeps_on_device(DType images, const DevicePredictor& predictor);
// All memory is taken before the first sink is opened and the source is read: until then it throws out_of_memory, and
// unsupported without NVRTC.
class DeviceSweep {
 public:
  DeviceSweep(DeviceWork& work, const SlidingWindow& windows, ImageSource& source, DevicePredictor& predictor,
              const SweepOptions& options);
  ~DeviceSweep();
  void run(const MakeSink& sinks);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold::imaging
