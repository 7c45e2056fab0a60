// What a GPU's driver answered when it failed, as data. Also tells whether a device can still be used.
//
// An Error of kind `device` or `out_of_memory`, and a Status of that code, say in words what failed. These structs hold
// the parts of those words. All functions may be called on any thread at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tenfold/export.h"

namespace tenfold {

struct DeviceError {
  std::string device;        // "cuda:0"
  int number = 0;            // the driver's number of the error: 700
  std::string symbol;        // the driver's name for it: "CUDA_ERROR_ILLEGAL_ADDRESS"; empty where the driver has none
  std::string words;         // the driver's own words: "an illegal memory access was encountered"
  std::string call;          // the call that answered so, which may come after a kernel's fault: "cuStreamSynchronize"
  int driver_version = 0;    // the CUDA version of the driver, as the driver counts: 13000 is 13.0
  std::string libraries;     // with their versions: "NVRTC 13.0, cuBLASLt 13.1.0"; empty if the device was not opened
};

// The last failure of a device in this process. Nothing if there was none, and for a CPU.
TENFOLD_API std::optional<DeviceError> last_device_error(std::string_view device);
TENFOLD_API std::string text(const DeviceError& error);   // all fields in one line

enum class Health : std::uint8_t {
  ok,
  lost,   // a kernel's fault took the device from this process: every call fails until the process is started again
};
struct DeviceHealth {
  Health state = Health::ok;
  std::string reason;        // one line; empty if it is ok
  explicit operator bool() const noexcept { return state == Health::ok; }
};
// The health of "cpu", "cuda:0" ... A device that nobody has opened is ok; devices() says whether it exists. Throws
// invalid_argument for other names.
TENFOLD_API DeviceHealth device_health(std::string_view device);

}  // namespace tenfold
