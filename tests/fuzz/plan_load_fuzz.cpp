// libFuzzer target: loading plans. A plan of any bytes ends in a Plan that passes the verifier, or in an Error; never in a crash.
//
// Checksums would keep the fuzzer at the door, so the first byte chooses: a whole file as it is; the bytes as a metadata section
// beside some weights, verified for a device.
#include <array>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "plan/extent.h"
#include "plan/inspect.h"
#include "plan/read.h"
#include "plan/verify.h"
#include "plan/write.h"

using namespace tenfold;

namespace {

// What passed the verifier must also survive everything that only reads it.
void use(const plan::Plan& p, const backends::Backend& backend) {
  plan::verify(p, backend, ir::Registry::builtin());
  plan::inspect_text(p);
  plan::inspect_json(p);
  plan::serialize(p);
  for (const plan::Program& program : p.programs) plan::extents_fit(p, program, std::vector<std::int64_t>(program.dims.size(), 3));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto null_device = backends::open_backend("null"), cpu = backends::open_backend("cpu");
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  try {
    if (data[0] % 3 == 0) {
      use(plan::load(bytes), *null_device);
    } else {
      alignas(64) static constexpr std::array<std::byte, 4096> kWeights{};
      plan::Plan p = plan::read_metadata(bytes);
      p.weights = kWeights.data(), p.weights_bytes = kWeights.size();
      use(p, data[0] % 3 == 1 ? *null_device : *cpu);
    }
  } catch (const Error&) {
  }
  return 0;
}
