// A captured graph owns what its kernels read: by a user object, which the driver ends with the last graph that has it.
#include "backends/cuda/captures.h"

#include <utility>

#include "backends/cuda/device/driver.h"
#include "backends/cuda/device/failures.h"

namespace tenfold::backends::cuda {

bool is_captured(void* stream) noexcept {
  int status = kNotCapturing;
  const Driver* d = driver();
  return d && d->stream_capturing(static_cast<StreamHandle>(stream), &status) == kSuccess && status == kCapturing;
}

int exchange_capture_mode(int mode) noexcept {
  const Driver* d = driver();
  if (d && d->capture_mode) d->capture_mode(&mode);
  return mode;
}

void keep_with_capture(void* stream, std::shared_ptr<void> what) {
  constexpr const char* kWhat = "keeping memory with a captured graph";
  const Driver* d = driver();
  auto kept = std::make_unique<std::shared_ptr<void>>(std::move(what));
  if (!d || !d->capture_info || !d->user_object || !d->graph_keep) {
    static_cast<void>(kept.release());   // for good
    return;
  }
  Graph graph = nullptr;
  int status = kNotCapturing;
  expect(d->capture_info(static_cast<StreamHandle>(stream), &status, nullptr, &graph, nullptr, nullptr), "cuStreamGetCaptureInfo", kWhat);
  void* object = nullptr;
  const auto ends = [](void* p) { delete static_cast<std::shared_ptr<void>*>(p); };
  expect(d->user_object(&object, kept.get(), ends, 1, kUserObjectNoSync), "cuUserObjectCreate", kWhat);
  static_cast<void>(kept.release());
  expect(d->graph_keep(graph, object, 1, kUserObjectMove), "cuGraphRetainUserObject", kWhat);
}

}  // namespace tenfold::backends::cuda
