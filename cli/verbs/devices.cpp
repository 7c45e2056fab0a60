// tenfold devices: list CPU features, GPUs and their libraries.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "flags/flags.h"
#include "verbs.h"
#include "tenfold/device.h"

namespace tenfold::cli {

namespace {

Flags make_flags(bool& json, bool& help) {
  Flags flags("tenfold devices [--json]", "Lists the devices of this machine: CPU features, GPUs and the libraries found for them.");
  flags.group("Flags");
  flags.add_switch("json", json, "as a JSON array");
  flags.add_switch("help", help, "this text");
  return flags;
}

}  // namespace

void devices_flags(const UseFlags& use) {
  bool json = false, help = false;
  use(make_flags(json, help));
}

int devices_main(const Arguments& arguments) {
  bool json = false, help = false;
  const Flags flags = make_flags(json, help);
  if (const auto words = flags.parse(arguments); !words.empty()) throw UsageError("tenfold devices takes no '" + words.front() + "'");
  if (help) return std::fputs(flags.help().c_str(), stdout), kOk;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DeviceDescription& d : devices()) {
    list.push_back({{"device", d.device},
                    {"name", d.name},
                    {"features", d.features},
                    {"l1_bytes", d.l1_bytes},
                    {"l2_bytes", d.l2_bytes},
                    {"l3_bytes", d.l3_bytes},
                    {"threads", d.threads},
                    {"cores", d.cores},
                    {"memory_bytes", d.memory_bytes},
                    {"libraries", d.libraries}});
    if (!json && d.memory_bytes > 0)
      std::printf("%s: %s\n  features  %s\n  caches    %lld KiB for a block, %lld KiB L2\n  memory    %lld MiB\n", d.device.c_str(),
                  d.name.c_str(), d.features.c_str(), static_cast<long long>(d.l1_bytes >> 10), static_cast<long long>(d.l2_bytes >> 10),
                  static_cast<long long>(d.memory_bytes >> 20));
    else if (!json)
      std::printf("%s: %s\n  features  %s\n  caches    %lld KiB L1, %lld KiB L2, %lld KiB L3\n  threads   %d on %d cores\n",
                  d.device.c_str(), d.name.c_str(), d.features.c_str(), static_cast<long long>(d.l1_bytes >> 10),
                  static_cast<long long>(d.l2_bytes >> 10), static_cast<long long>(d.l3_bytes >> 10), d.threads, d.cores);
    for (const std::string& library : d.libraries)
      if (!json) std::printf("  library   %s\n", library.c_str());
  }
  if (const std::string why = why_no_gpu(); !json && !why.empty()) std::printf("cuda: none (%s)\n", why.c_str());
  if (json) std::printf("%s\n", list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  return kOk;
}

}  // namespace tenfold::cli
