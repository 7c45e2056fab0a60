// libFuzzer target: PNG files, of at most 2^20 pixels. Any bytes end in pixels of the size that the file says, or in a BrokenImage.
#include <algorithm>
#include <string>

#include "base/check.h"
#include "cpu_limit.h"
#include "formats/images/image_spec.h"

using namespace tenfold;

namespace {

// The sides that IHDR, the first part of the file, says; 0 where the file ends before.
std::uint64_t side(std::string_view file, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | (i < file.size() ? static_cast<unsigned char>(file[i]) : 0);
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::uint64_t width = side(input, 16), height = side(input, 20);
  if (width * height > 1 << 20) return 0;   // takes its time, and tells nothing new
  try {
    const formats::Pixels pixels = images::decode_png(input);
    check(static_cast<std::uint64_t>(pixels.width) == width && static_cast<std::uint64_t>(pixels.height) == height, "another size");
    check(pixels.values.size() == width * height * 3, "pixels lack");
    BindingInfo info;
    info.name = "x", info.shape = {1, 3, 4, 4};
    formats::prepared(pixels, formats::resolve_image_spec({}, {info}));
  } catch (const formats::BrokenImage&) {
  }
  return 0;
}
