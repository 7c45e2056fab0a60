// libFuzzer target: importing ONNX bytes with shape inference. Any bytes end in a verified Graph or in an Error; never in a crash,
// a contradiction of ours, a second of work, or memory without bound.
//
// Bytes have no folder, so external data is refused. The node limit keeps functions that call functions from filling the time.
#include <cstdint>
#include <span>

#include "base/check.h"
#include "cpu_limit.h"
#include "onnx_import/import.h"

using namespace tenfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  try {
    onnx_import::import_bytes(std::as_bytes(std::span(data, size)), {.max_nodes = 10'000});
  } catch (const Error& error) {
    check(error.kind() != ErrorKind::internal, "a model made the importer contradict itself: ", error.what());
  }
  return 0;
}
