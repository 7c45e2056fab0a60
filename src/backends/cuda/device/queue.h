// What a CUDA tactic launches on: the stream, and the library handles that belong to it.
#pragma once

#include "backends/cuda/device/cudnn.h"
#include "backends/cuda/device/device.h"
#include "backends/tactic.h"

namespace tenfold::backends::cuda {

struct Queue {
  explicit Queue(Device& d);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  // Made on first use, which must not be while the stream records; null if cuDNN does not start.
  DnnHandle dnn() noexcept;

  Device& device;
  StreamHandle stream = nullptr;

 private:
  DnnHandle dnn_ = nullptr;
};

inline Queue& queue_of(const RunArgs& args) { return *static_cast<Queue*>(args.queue); }

}  // namespace tenfold::backends::cuda
