// A stream and its handles.
#include "backends/cuda/device/queue.h"

namespace tenfold::backends::cuda {

Queue::Queue(Device& d) : device(d) {
  device.make_current();
  expect(driver()->stream_create(&stream, kStreamNonBlocking), "making a stream");
}
Queue::~Queue() {
  device.make_current();
  driver()->stream_wait(stream);
  if (dnn_) cudnn()->destroy(dnn_);
  driver()->stream_destroy(stream);
}

DnnHandle Queue::dnn() noexcept {
  if (!dnn_ && cudnn() && cudnn()->create(&dnn_) == 0) cudnn()->set_stream(dnn_, stream);
  return dnn_;
}

}  // namespace tenfold::backends::cuda
