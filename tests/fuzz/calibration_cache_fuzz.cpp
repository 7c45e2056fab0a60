// libFuzzer target: calibration caches, as TensorRT or anybody writes them. Any text ends in a cache that is written and read back alike,
// with scales that are finite and not negative, or in an Error.
#include <cmath>
#include <string_view>

#include "base/check.h"
#include "cpu_limit.h"
#include "quant/calibration_cache.h"

using namespace tenfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  quant::CalibrationCache cache;
  try {
    cache = quant::read_calibration_cache({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::io, "a cache is refused as something else: ", error.what());
    return 0;
  }
  const std::string text = quant::write_calibration_cache(cache);
  const quant::CalibrationCache again = quant::read_calibration_cache(text, "what was written");
  check(again.head == cache.head && again.scales == cache.scales, "a cache is read back as another");
  for (const auto& [name, scale] : cache.scales) check(std::isfinite(scale) && scale >= 0, "'", name, "' has the scale ", scale);
  return 0;
}
