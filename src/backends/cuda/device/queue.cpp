// A stream and its handles.
#include "backends/cuda/device/queue.h"

#include <utility>

#include "backends/cuda/device/failures.h"

namespace tenfold::backends::cuda {

Queue::Queue(Device& d) : device(d) {
  device.make_current();
  void* word = nullptr;
  expect(driver()->allocate_host(&word, sizeof *bad_index, 0), "cuMemHostAlloc", "allocating host memory");
  bad_index = static_cast<std::uint32_t*>(word);
  *bad_index = 0;
  expect(driver()->stream_create(&own, kStreamNonBlocking), "cuStreamCreate", "making a stream");
  stream = own;
}
Queue::~Queue() {
  device.make_current();
  driver()->stream_wait(own);
  if (dnn_) cudnn()->destroy(dnn_);
  driver()->stream_destroy(own);
  driver()->release_host(bad_index);
}

DnnHandle Queue::dnn() noexcept {
  if (!dnn_ && cudnn() && cudnn()->create(&dnn_) == 0) cudnn()->set_stream(dnn_, stream);
  return dnn_;
}

void Queue::redirect(StreamHandle to) noexcept {
  if (std::exchange(stream, to) != to && dnn_) cudnn()->set_stream(dnn_, to);
}

}  // namespace tenfold::backends::cuda
