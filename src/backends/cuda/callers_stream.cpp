// Streams of callers, from the driver.
#include "backends/cuda/callers_stream.h"

#include "backends/cuda/device/failures.h"

namespace tenfold::backends::cuda {

std::shared_ptr<void> make_callers_stream(Gpus& gpus, int ordinal) {
  std::shared_ptr<Device> device = gpus.open(ordinal);
  device->make_current();
  StreamHandle stream = nullptr;
  expect(driver()->stream_create(&stream, kStreamNonBlocking), "cuStreamCreate", "making a stream");
  return {stream, [device](StreamHandle s) {
            device->make_current();
            driver()->stream_wait(s);
            driver()->stream_destroy(s);
          }};
}

}  // namespace tenfold::backends::cuda
