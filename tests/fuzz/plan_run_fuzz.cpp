// libFuzzer target: running plans. A crafted plan that the verifier lets pass computes nonsense at worst, in its own memory.
#include "backends/backend.h"
#include "base/check.h"
#include "cpu_limit.h"
#include "plan/verify.h"
#include "plan_input.h"
#include "plan_run.h"

using namespace tenfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto cpu = backends::open_backend("cpu");
  if (size == 0) return 0;
  const fuzz::CpuLimit limit;
  try {
    plan::Plan p = fuzz::to_plan(data[0], std::as_bytes(std::span(data + 1, size - 1)));
    plan::verify(p, *cpu, ir::Registry::builtin());
    fuzz::run(std::move(p), cpu, data[0] >> 3);   // what plan_input.h leaves of the byte
  } catch (const Error& error) {
    check(error.kind() != ErrorKind::internal, "a plan made the runtime contradict itself: ", error.what());
  }
  return 0;
}
