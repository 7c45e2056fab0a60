// --hint: what the machine is for, one answer soon or many in all. The flags that it stands for win over it.
#include <algorithm>

#include "engines/exec_options.h"
#include "tenfold/device.h"

namespace tenfold::cli {
namespace {

// Copies of one beside the kernels of another. Two may both be copying while no kernel runs: so ResNet-50 at batch 128 takes 3.21 ms a run
// on an H200, and with three 2.87.
constexpr int kGpuStreams = 3;

DeviceDescription cpu() {
  for (const DeviceDescription& d : devices())
    if (d.device == "cpu") return d;
  return {};
}

}  // namespace

void add_hint_flag(Flags& f, ExecOptions& o) {
  f.add({"hint", "latency|throughput",
         "latency (default): one context on all threads; throughput: one single-threaded context per core, or as --threads and "
         "--infStreams say; three contexts on a GPU",
         [&o](const std::string& text) {
           if (text != "latency" && text != "throughput") throw UsageError("--hint is latency or throughput, not '" + text + "'");
           o.throughput = text == "throughput";
         }});
}

void follow_hint(ExecOptions& o) {
  const bool cpu = !is_gpu(o.build.device);
  if (o.throughput && cpu && o.build.threads == 0 && (o.load_engine.empty() || o.retune)) o.build.threads = 1;
}

int streams_of(const ExecOptions& o, const EngineInfo& info) {
  if (o.streams > 0) return o.streams;
  if (!o.throughput) return 1;
  return info.on_gpu ? kGpuStreams : std::max(1, cpu().cores / std::max(1, info.threads));
}

bool pinned_inputs(const ExecOptions& o, const EngineInfo& info) { return info.on_gpu && o.pinned.value_or(o.as_trtexec); }
const char* host_memory(const ExecOptions& o, const EngineInfo& info) { return pinned_inputs(o, info) ? "pinned" : "pageable"; }

std::string workers_note(const ExecOptions& o, int streams, const EngineInfo& info) {
  if (info.on_gpu || info.threads <= 1 || streams <= 1 || o.build.pin_threads) return "";
  const int own = std::max(1, cpu().threads / info.threads);
  if (streams <= own) return "";
  return std::to_string(streams) + " contexts of " + std::to_string(info.threads) + " threads share the workers of " + std::to_string(own) +
         ": one that finds them busy runs on its own thread";
}

}  // namespace tenfold::cli
