// Which backends exist, and what all of them have by default.
#include "backends/backend.h"

#include <charconv>
#include <chrono>

#include "backends/cpu/backend.h"
#include "backends/cuda/backend.h"
#include "backends/null/backend.h"
#include "base/check.h"

namespace tenfold::backends {

void HostMarks::mark(int moment) noexcept {
  nanoseconds_[moment & 3] =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double HostMarks::between(int first, int last) const noexcept {
  return static_cast<double>(nanoseconds_[last & 3] - nanoseconds_[first & 3]) / 1e6;
}

std::shared_ptr<Backend> open_backend(std::string_view name, std::uint32_t features, const Resources& shared) {
  if (name == "cpu") return open_cpu(features, shared.pools, shared.allocator);
  if (name == "null") return open_null();
  if (name == "cuda" || name.starts_with("cuda:")) {
    const std::string_view number = name.size() > 5 ? name.substr(5) : "0";
    int ordinal = -1;
    std::from_chars(number.data(), number.data() + number.size(), ordinal);
    return open_cuda(ordinal, shared.gpus, shared.allocator);
  }
  fail(ErrorKind::unsupported, cat("there is no device '", name, "': devices are cpu and cuda:N"));
}

}  // namespace tenfold::backends
