// libFuzzer target: loading plans. A plan of any bytes ends in a Plan that passes the verifier, or in an Error; never in a crash.
#include "backends/backend.h"
#include "base/check.h"
#include "cpu_limit.h"
#include "plan/extent.h"
#include "plan/inspect.h"
#include "plan/verify.h"
#include "plan/write.h"
#include "plan_input.h"

using namespace tenfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto null_device = backends::open_backend("null"), cpu = backends::open_backend("cpu");
  if (size == 0) return 0;
  const fuzz::CpuLimit limit;
  try {
    const plan::Plan p = fuzz::to_plan(data[0], std::as_bytes(std::span(data + 1, size - 1)));
    plan::inspect_unopened(p);
    plan::verify(p, fuzz::for_cpu(data[0]) ? *cpu : *null_device, ir::Registry::builtin());
    // What passed the verifier must also survive everything that only reads it.
    plan::inspect_text(p);
    plan::inspect_json(p);
    plan::inspect_data(p);
    plan::serialize(p);
    for (const plan::Program& program : p.programs)
      plan::extents_fit(p, program, std::vector<std::int64_t>(program.dims.size(), 3), std::vector<std::int64_t>(program.grown.size(), 3));
  } catch (const Error& error) {
    check(error.kind() != ErrorKind::internal, "a plan made the loader contradict itself: ", error.what());
  }
  return 0;
}
