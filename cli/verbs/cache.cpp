// tenfold cache: the plans that are kept, how much room they take, and how to be rid of them.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "flags/flags.h"
#include "flags/specs.h"
#include "verbs.h"
#include "tenfold/plan_cache.h"

namespace tenfold::cli {
namespace {

namespace fs = std::filesystem;

double mib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

std::string name_of(const PlanCacheEntry& entry) { return fs::path(entry.path).filename().string(); }

std::string time_text(std::int64_t milliseconds) {
  const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm local{};
  char text[32] = "";
  if (::localtime_r(&seconds, &local)) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
  return text;
}

// What stands behind "device " in the key of a plan that build_file() and its like made; a key of the caller's own says nothing.
std::string device_of(const std::string& key) {
  const std::size_t begin = key.find("\ndevice ");
  if (begin == std::string::npos) return "";
  const std::size_t word = begin + 8;
  return key.substr(word, key.find_first_of(" \n", word) - word);
}

// Timing caches and what a user keeps there himself.
struct Others {
  int files = 0;
  std::int64_t bytes = 0;
};
Others others_in(const std::string& folder, const std::vector<PlanCacheEntry>& entries) {
  Others others;
  std::error_code none;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, none)) {
    if (!file.is_regular_file(none)) continue;
    ++others.files, others.bytes += static_cast<std::int64_t>(file.file_size(none));
  }
  others.files -= static_cast<int>(entries.size());
  for (const PlanCacheEntry& e : entries) others.bytes -= e.bytes;
  return others;
}

void print_table(const std::string& folder, const std::vector<PlanCacheEntry>& entries, std::int64_t bytes) {
  std::printf("%s: %zu plans, %.1f MiB\n", folder.c_str(), entries.size(), mib(bytes));
  if (!entries.empty()) std::printf("  %-16s  %9s  %-6s  %s\n", "last used", "MiB", "device", "plan");
  for (const PlanCacheEntry& e : entries)
    std::printf("  %-16s  %9.1f  %-6s  %s\n", time_text(e.used).c_str(), mib(e.bytes), device_of(e.key).c_str(), name_of(e).c_str());
  const Others others = others_in(folder, entries);
  if (others.files > 0)
    std::printf("beside them %d other files, %.1f MiB: timing caches, and what is no entry\n", others.files, mib(others.bytes));
}

void print_json(const std::string& folder, const std::vector<PlanCacheEntry>& entries, std::int64_t bytes) {
  nlohmann::ordered_json plans = nlohmann::ordered_json::array();
  for (const PlanCacheEntry& e : entries)
    plans.push_back({{"path", e.path}, {"bytes", e.bytes}, {"used_ms", e.used}, {"device", device_of(e.key)}});
  const nlohmann::ordered_json all{{"folder", folder}, {"bytes", bytes}, {"plans", plans}};
  std::printf("%s\n", all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

struct Wish {
  PlanCacheOptions options;
  std::int64_t max_bytes = -1;
  bool clear = false, json = false, help = false;
};

Flags make_flags(Wish& w) {
  Flags flags("tenfold cache [--flags]", "Lists the cached plans, the least recently used first, and removes them.");
  flags.group("Flags");
  flags.add_text("planCache", w.options.folder, "DIR", "the folder; default: ~/.cache/tenfold/plans");
  flags.add_switch("clear", w.clear, "remove all plans; processes that use them are not affected");
  flags.add({"max-bytes", "MiB", "remove the least recently used plans until the rest fits; MiB, or with B, K, M, G",
             [&w](const std::string& text) { w.max_bytes = parse_bytes("max-bytes", text); }});
  flags.add_switch("json", w.json, "print the remaining plans as JSON");
  flags.add_switch("help", w.help, "this text");
  return flags;
}

}  // namespace

void cache_flags(const UseFlags& use) {
  Wish w;
  use(make_flags(w));
}

int cache_main(const Arguments& arguments) {
  Wish w;
  const Flags flags = make_flags(w);
  if (const auto words = flags.parse(arguments); !words.empty()) throw UsageError("tenfold cache takes no '" + words.front() + "'");
  if (w.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  const PlanCache cache(w.options);
  int removed = 0;
  if (w.clear) removed = cache.clear();
  else if (w.max_bytes >= 0) removed = cache.trim(w.max_bytes);
  const std::vector<PlanCacheEntry> entries = cache.entries();
  std::int64_t bytes = 0;
  for (const PlanCacheEntry& e : entries) bytes += e.bytes;
  if (w.json) return print_json(cache.folder(), entries, bytes), kOk;
  if (w.clear || w.max_bytes >= 0) std::printf("%d plans removed\n", removed);
  print_table(cache.folder(), entries, bytes);
  return kOk;
}

}  // namespace tenfold::cli
