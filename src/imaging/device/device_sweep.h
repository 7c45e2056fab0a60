// A sweep whose images, sums and results of the network lie on a GPU.
#pragma once

#include <string>

#include "device/device_predictor.h"
#include "parts/part.h"
#include "tenfold/internal/device_work.h"
#include "tenfold/sliding_window.h"

namespace tenfold::imaging {

// Whether the kernels know these types; `why`: what they do not.
bool sweeps_on_device(DType images, const DevicePredictor& predictor, std::string& why);
// Parts, one after the other. The memory of each is taken before the first sink is opened and the source is read: until
// then it throws out_of_memory, and unsupported without NVRTC.
class DeviceSweep {
 public:
  DeviceSweep(DeviceWork& work, const SlidingWindow& windows, ImageSource& source, DevicePredictor& predictor,
              std::vector<Part> parts, const SweepOptions& options);
  ~DeviceSweep();
  void run(const MakeSink& sinks);

 private:
  struct Impl;
  std::unique_ptr<Impl> begin(const Part& part) const;

  DeviceWork& work_;
  const SlidingWindow& windows_;
  ImageSource& source_;
  DevicePredictor& predictor_;
  std::vector<Part> parts_;
  const SweepOptions& options_;
  std::unique_ptr<Impl> impl_;       // of one part
};

}  // namespace tenfold::imaging
