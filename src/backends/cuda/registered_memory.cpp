// Registering by the driver's calls.
#include "backends/cuda/registered_memory.h"

#include "backends/cuda/device/failures.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::shared_ptr<void> register_memory(Gpus& gpus, int ordinal, void* memory, std::int64_t bytes) {
  std::shared_ptr<Device> device = gpus.open(ordinal);
  device->make_current();
  const int result = driver()->register_host(memory, static_cast<std::size_t>(bytes), kRegisterPortable);
  require(result != kRegisteredAlready, ErrorKind::invalid_argument, "the ", bytes, " bytes at ", memory,
          " are registered already, or share a page with memory that is: register the whole once, and keep it");
  expect(result, "cuMemHostRegister", cat("registering ", bytes, " bytes of the caller's memory").c_str());
  return {memory, [device](void* p) {
            device->make_current();
            driver()->synchronize();   // a copy may be under way
            driver()->unregister_host(p);
          }};
}

}  // namespace tenfold::backends::cuda
