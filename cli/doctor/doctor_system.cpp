#include "doctor/doctor_system.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "doctor/self_test.h"
#include "tenfold/device.h"
#include "tenfold/error.h"
#include "tenfold/machine.h"
#include "tenfold/plan_cache.h"
#include "tenfold/version.h"

namespace tenfold::cli {
namespace {

namespace fs = std::filesystem;
using Checks = std::vector<SystemCheck>;

std::string gib(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / (1 << 30));
  return text;
}

// The rest of the first line that begins with `key`; empty: there is none.
std::string line_of(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return line.substr(key.size());
  return "";
}

SystemCheck versions() {
  std::string system = line_of("/etc/os-release", "PRETTY_NAME=");
  std::erase(system, '"');
  utsname kernel{};
  ::uname(&kernel);
  if (system.empty()) system = kernel.sysname;
  return {"tenfold", std::string(version()) + ", " + system + ", kernel " + kernel.release + ", glibc " + ::gnu_get_libc_version()};
}

SystemCheck memory() {
  const auto bytes = [](const char* key) { return std::atof(line_of("/proc/meminfo", key).c_str()) * 1024; };
  SystemCheck check{"memory", gib(bytes("MemAvailable:")) + " of " + gib(bytes("MemTotal:")) + " free"};
  std::string limit;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit != "max")
    check.found += ", cgroup's limit " + gib(std::atof(limit.c_str()));
  if (const auto load = machine_load()) check.found += "; " + text(*load);
  return check;
}

SystemCheck processor(const DeviceDescription& cpu) {
  return {"processor", cpu.name + ", " + cpu.features + ", " + std::to_string(cpu.threads) + " threads on " + std::to_string(cpu.cores) +
                           " cores"};
}

void add_gpus(Checks& checks, const std::vector<DeviceDescription>& all) {
  std::string why;
  const std::vector<GpuState> states = gpu_states(&why);
  bool usable = false;
  for (const DeviceDescription& d : all) {
    if (d.device == "cpu") continue;
    usable = true;
    checks.push_back({d.device, d.name + ", " + d.features + ", " + gib(static_cast<double>(free_memory(d.device))) + " of " +
                                    gib(static_cast<double>(d.memory_bytes)) + " free"});
    for (const std::string& library : d.libraries) checks.push_back({"", library});
  }
  for (const GpuState& state : states) checks.push_back({"GPU now", text(state)});
  if (usable) return;
  const std::string no_gpu = why_no_gpu();
  if (states.empty()) checks.push_back({"GPU", "none (" + no_gpu + ")"});
  else
    checks.push_back({"GPU", "CUDA does not work: " + no_gpu, SystemCheck::fails,
                      "the driver sees a GPU: install its library libcuda.so.1 of the same version, or give the container access "
                      "(docker run --gpus all)"});
}

struct Library { const char *file, *package, *purpose; };
constexpr Library kLibraries[] = {
    {"libturbojpeg.so.0", "libturbojpeg0", "pictures in JPEG: samples, ImageDecoder"},
    {"libpng16.so.16", "libpng16-16", "pictures in PNG: samples, ImageDecoder"},
    {"libopenjp2.so.7", "libopenjp2-7", "pictures in JPEG 2000"},
    {"libtiff.so.6", "libtiff6", "pictures in TIFF"},
    {"libwebp.so.7", "libwebp7", "pictures in WebP"},
    {"libz.so.1", "zlib1g", "compressed .npz files"},
    {"libpcre2-8.so.0", "libpcre2-8-0", "unusual patterns of tokenizers"},
    {"libdnnl.so.2", "libdnnl2", "--tacticSources=+onednn"},
};

SystemCheck library(const Library& library) {
  void* const handle = ::dlopen(library.file, RTLD_LAZY | RTLD_LOCAL);
  if (!handle)
    return {library.file, std::string("not found; for ") + library.purpose, SystemCheck::missing,
            std::string("apt-get install ") + library.package};
  link_map* map = nullptr;
  const bool knows = ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map;
  SystemCheck check{library.file, knows ? map->l_name : "found"};
  ::dlclose(handle);
  return check;
}

SystemCheck plan_folder() {
  try {
    const PlanCache cache;
    double bytes = 0;
    const auto entries = cache.entries();
    for (const PlanCacheEntry& e : entries) bytes += static_cast<double>(e.bytes);
    const double room = static_cast<double>(fs::space(cache.folder()).available);
    SystemCheck check{"plans kept",
                      std::to_string(entries.size()) + " in " + cache.folder() + ", " + gib(bytes) + ", disk has " + gib(room)};
    if (::access(cache.folder().c_str(), W_OK) != 0)
      check.verdict = SystemCheck::missing, check.what_to_do = "the folder cannot be written; give --planCache=DIR, or set XDG_CACHE_HOME";
    else if (room < 1 << 30)
      check.verdict = SystemCheck::missing, check.what_to_do = "less than 1 GiB is left: tenfold cache --max-bytes=2G removes old plans";
    return check;
  } catch (const std::exception& e) {
    return {"plans kept", std::string("none: ") + e.what(), SystemCheck::missing, "set XDG_CACHE_HOME, or give --planCache=DIR"};
  }
}

}  // namespace

std::vector<SystemCheck> check_system() {
  const std::vector<DeviceDescription> all = devices();
  Checks checks{versions()};
  for (const DeviceDescription& d : all)
    if (d.device == "cpu") checks.push_back(processor(d));
  checks.push_back(memory());
  add_gpus(checks, all);
  for (const Library& one : kLibraries) checks.push_back(library(one));
  checks.push_back(plan_folder());
  for (const DeviceDescription& d : all) {
    const SelfTest test = self_test(d.device);
    checks.push_back({"self-test " + d.device, test.words, test.passed ? SystemCheck::ok : SystemCheck::fails,
                      test.passed ? "" : "report it with this screen: no answer of this device is to be trusted"});
  }
  return checks;
}

}  // namespace tenfold::cli
