// Work on a GPU beside engines, for libraries on top of the runtime: memory, kernels in CUDA C, copies that nobody waits
// for, and order between streams.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "tenfold/export.h"

namespace tenfold {

class Runtime;                         // tenfold/runtime.h

// One GPU. Memory, streams, events and kernels end with the last copy of their pointer, once their work is done. Thread
// safe, but for a stream or an event that several threads use. Calls throw device, with the driver's words.
class TENFOLD_API DeviceWork {
 public:
  virtual ~DeviceWork();
  // Memory of the GPU, and of the host in a form that the GPU copies from and to without a wait. Throw out_of_memory.
  virtual std::shared_ptr<void> allocate(std::int64_t bytes) = 0;
  virtual std::shared_ptr<void> allocate_pinned(std::int64_t bytes) = 0;
  virtual std::shared_ptr<void> make_stream() = 0;   // a CUstream, as ExecutionContext::enqueue() takes it
  virtual std::shared_ptr<void> make_event() = 0;
  // The kernel `name` of a source in CUDA C, which includes nothing: u8 to u64, INFINITY_F, from_f16(), to_bf16() and
  // their kin are there. Its only parameter is one structure. Equal sources are compiled once. Throws unsupported where
  // there is no NVRTC.
  virtual std::shared_ptr<const void> load_kernel(const std::string& source, const char* name) = 0;

  // These put work on a stream and return.
  virtual void copy(void* to, const void* from, std::int64_t bytes, void* stream) = 0;
  virtual void fill(void* to, int byte, std::int64_t bytes, void* stream) = 0;
  virtual void launch(const void* kernel, std::array<std::int64_t, 3> blocks, unsigned threads, const void* argument,
                      void* stream) = 0;
  virtual void record(void* event, void* stream) = 0;   // the event is the end of all that is on the stream now
  virtual void follow(void* stream, void* event) = 0;   // what comes on the stream begins after that
  virtual void wait(void* event) = 0;                   // the host's; at once for one that was never recorded
};
// `device` is "cuda" or "cuda:1". A null `runtime` is the process's own. Throws unsupported for a CPU, and device.
TENFOLD_API std::unique_ptr<DeviceWork> open_device_work(const std::string& device,
                                                         const std::shared_ptr<Runtime>& runtime = nullptr);

}  // namespace tenfold
