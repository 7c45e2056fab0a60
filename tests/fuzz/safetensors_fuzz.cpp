// libFuzzer target: the tables of safetensors files. Any bytes end in tensors that lie inside the file, or in an Error.
#include <string_view>

#include "base/check.h"
#include "cpu_limit.h"
#include "text/transformers/safetensors.h"

using namespace tenfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  try {
    for (const auto& [name, place] : transformers::read_table({reinterpret_cast<const char*>(data), size}, size, "input")) {
      check(place.offset <= size && place.bytes <= size - place.offset, "'", name, "' ends behind the file");
      check(byte_size(place.type, element_count(place.shape)) == static_cast<std::int64_t>(place.bytes), "'", name, "' has another size");
    }
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::invalid_model || error.kind() == ErrorKind::unsupported, "refused as something else: ", error.what());
  }
  return 0;
}
