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
  // Work goes to this stream from now on: the own one, one of its branches, or a caller's.
  void redirect(StreamHandle to) noexcept;

  Device& device;
  StreamHandle own = nullptr;
  StreamHandle stream = nullptr;
  // The stream's last piece of work is of another branch: a kernel must not start before it has ended.
  mutable bool joined = false;
  mutable int failure = 0;   // the driver's number for the last launch that failed
  // Written by kernels that meet an index outside its table, read by the host after a wait. It lies in the host's memory.
  std::uint32_t* bad_index = nullptr;

 private:
  DnnHandle dnn_ = nullptr;
};

inline Queue& queue_of(const RunArgs& args) { return *static_cast<Queue*>(args.queue); }

}  // namespace tenfold::backends::cuda
