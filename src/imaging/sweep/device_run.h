// A sweep on a GPU as options ask for it: along any axis, of all results or parts of them.
#pragma once

#include <memory>

#include "device/device_sweep.h"
#include "sweep/turned.h"

namespace tenfold::imaging {

class DeviceRun {
 public:
  // `predictor`: its windows have their axes in the order of the sweep, sweep_order(). Throws as DeviceSweep does.
  DeviceRun(DeviceWork& work, const SlidingWindow& windows, ImageSource& source, DevicePredictor& predictor,
            const SweepOptions& options);
  void run(const MakeSink& sinks);

 private:
  AxisOrder order_;
  bool turned_;
  SlidingWindow windows_;
  TurnedSource turned_source_;
  SweepOptions options_;
  std::unique_ptr<DeviceSweep> sweep_;
};

// Strides of the spatial axes of a dense [..., spatial...] of the model, in the order of a sweep.
Shape strides_in_order(const Shape& window, const AxisOrder& order);

}  // namespace tenfold::imaging
