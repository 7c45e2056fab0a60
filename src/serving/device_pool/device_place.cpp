#include "device_pool/device_place.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "base/threads/cpu_count.h"
#include "tenfold/device.h"
#include "tenfold/error.h"

namespace tenfold::serving {

namespace {

constexpr int kMaxProcessors = CPU_SETSIZE;

[[noreturn]] void wrong(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::invalid_argument,
              "the device '" + name + "' " + why +
                  "; devices are cpu, cpu:0-3 (these processors; cpu:0-3+8 for several ranges) and cuda:0");
}

int number(std::string_view text, const std::string& name) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value >= kMaxProcessors)
    wrong(name, "has no number at '" + std::string(text) + "'");
  return value;
}

// "0-3+8": ranges of processors.
std::vector<int> processors_of(std::string_view text, const std::string& name) {
  cpu_set_t own;
  if (sched_getaffinity(0, sizeof own, &own) != 0) wrong(name, "cannot be had: this system does not say which processors there are");
  std::set<int> all;
  while (true) {
    const std::size_t plus = text.find('+');
    const std::string_view range = text.substr(0, plus);
    const std::size_t dash = range.find('-');
    const int first = number(range.substr(0, dash), name);
    const int last = dash == std::string_view::npos ? first : number(range.substr(dash + 1), name);
    if (last < first) wrong(name, "has a range that ends before it begins");
    for (int one = first; one <= last; ++one) {
      if (!CPU_ISSET(static_cast<std::size_t>(one), &own))
        wrong(name, "names processor " + std::to_string(one) + ", which this process may not use");
      all.insert(one);
    }
    if (plus == std::string_view::npos) return {all.begin(), all.end()};
    text.remove_prefix(plus + 1);
  }
}

DevicePlace place_of(const std::string& name) {
  DevicePlace place{.name = name, .device = name, .processors = {}};
  if (name == "cpu" || name == "null") return place;
  if (name.starts_with("cpu:")) {
    place.device = "cpu", place.processors = processors_of(std::string_view(name).substr(4), name);
    return place;
  }
  if (!is_gpu(name)) {
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos || !is_gpu(name.substr(0, colon))) wrong(name, "is none");
    number(std::string_view(name).substr(colon + 1), name), wrong(name, "is none");
  }
  if (name.find(':') == std::string::npos) place.device += ":0";
  return place;
}

}  // namespace

std::vector<DevicePlace> places_of(std::span<const std::string> names, int threads) {
  std::vector<DevicePlace> places;
  for (const std::string& name : names) places.push_back(place_of(name));
  const auto whole = [](const DevicePlace& p) { return p.device == "cpu" && p.processors.empty(); };
  const auto sharers = static_cast<int>(std::count_if(places.begin(), places.end(), whole));
  for (DevicePlace& place : places) {
    place.threads = threads;
    if (!place.processors.empty()) {
      const auto size = static_cast<int>(place.processors.size());
      place.threads = threads > 0 ? std::min(threads, size) : size;
    } else if (whole(place) && sharers > 1 && threads == 0) {
      place.threads = std::max(1, static_cast<int>(usable_processors()) / sharers);
    }
  }
  return places;
}

void keep_to(const DevicePlace& place) {
  if (place.processors.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int one : place.processors) CPU_SET(static_cast<std::size_t>(one), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    throw Error(ErrorKind::device, "the processors of '" + place.name + "' cannot be used any more: sched_setaffinity refuses them");
}

std::size_t usable_processors() { return static_cast<std::size_t>(default_threads()); }

double free_bytes(const DevicePlace& place, int cpus) {
  if (place.on_gpu()) try {
      return static_cast<double>(std::max<std::int64_t>(1, free_memory(place.device)));
    } catch (const Error&) {  // it is gone, which its first piece will tell
      return 1;
    }
  std::ifstream in("/proc/meminfo");
  std::string word;
  double kilobytes = 0;
  while (in >> word)
    if (word == "MemAvailable:") in >> kilobytes;
  return std::max(1.0, kilobytes * 1024 / std::max(1, cpus));
}

}  // namespace tenfold::serving
