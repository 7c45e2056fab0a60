// The public view of failures of devices.
#include "tenfold/device_error.h"

#include "backends/cuda/device/failures.h"
#include "backends/device_traits.h"
#include "base/check.h"

namespace tenfold {
namespace {

// -1: a CPU.
int gpu_number(std::string_view device) {
  if (device == "cpu" || device.empty()) return -1;
  const std::optional<int> number = backends::gpu_ordinal(device);
  require(number.has_value(), ErrorKind::invalid_argument, "there is no device '", device, "': cpu, cuda:0, cuda:1 ...");
  return *number;
}

}  // namespace

std::optional<DeviceError> last_device_error(std::string_view device) {
  const int number = gpu_number(device);
  return number < 0 ? std::nullopt : backends::cuda::last_failure(number);
}

std::string text(const DeviceError& e) {
  const std::string version = cat(e.driver_version / 1000, ".", e.driver_version % 1000 / 10);
  return cat(e.device, ": ", e.call, " answered ", e.symbol.empty() ? "an error" : e.symbol, " (", e.number, "): ", e.words,
             "; driver for CUDA ", version, e.libraries.empty() ? "" : ", ", e.libraries);
}

DeviceHealth device_health(std::string_view device) {
  const int number = gpu_number(device);
  if (number < 0 || !backends::cuda::is_lost(number)) return {};
  const std::optional<DeviceError> error = backends::cuda::last_failure(number);
  if (!error) return {Health::lost, backends::cuda::why_lost(number)};
  return {Health::lost, cat(text(*error), "; this process cannot use the device any more: start it again")};
}

}  // namespace tenfold
