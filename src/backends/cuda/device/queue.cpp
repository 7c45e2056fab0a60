// A stream and its handles.
#include "backends/cuda/device/queue.h"

namespace tenfold::backends::cuda {

Queue::Queue(Device& d) : device(d) {
  device.make_current();
  void* word = nullptr;
  expect(driver()->allocate_host(&word, sizeof *bad_index, 0), "allocating host memory");
  bad_index = static_cast<std::uint32_t*>(word);
  *bad_index = 0;
  expect(driver()->stream_create(&stream, kStreamNonBlocking), "making a stream");
}
Queue::~Queue() {
  device.make_current();
  driver()->stream_wait(stream);
  if (dnn_) cudnn()->destroy(dnn_);
  driver()->stream_destroy(stream);
  driver()->release_host(bad_index);
}

DnnHandle Queue::dnn() noexcept {
  if (!dnn_ && cudnn() && cudnn()->create(&dnn_) == 0) cudnn()->set_stream(dnn_, stream);
  return dnn_;
}

}  // namespace tenfold::backends::cuda
