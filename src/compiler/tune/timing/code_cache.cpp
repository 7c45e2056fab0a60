// The kernel cache's file: a header line, then records of code.
#include "tune/timing/code_cache.h"

#include <filesystem>
#include <set>

#include "base/files/file.h"
#include "base/files/trust.h"

namespace tenfold::tune {
namespace {

constexpr std::string_view kHeader = "tenfold kernel cache 1\n";
constexpr std::size_t kMaxBytes = std::size_t{256} << 20;   // then it starts again with what the last build used

backends::CodeList parse(const std::string& text, const std::string& path, const Log& log) {
  if (text.empty()) return {};
  if (!text.starts_with(kHeader)) {
    log(Severity::warning, "'", path, "' is not a kernel cache of this version: not used");
    return {};
  }
  bool damaged = false;
  backends::CodeList list = backends::read_code(std::as_bytes(std::span(text)).subspan(kHeader.size()), damaged);
  if (damaged) log(Severity::warning, "kernel cache '", path, "' is damaged after ", list.size(), " kernels: the rest is compiled again");
  return list;
}

}  // namespace

std::string code_cache_path(const std::string& timing_cache) { return timing_cache.empty() ? "" : timing_cache + ".kernels"; }

backends::CodeList load_code(const std::string& path, const Log& log) {
  std::error_code error;
  if (path.empty() || (!std::filesystem::exists(path, error) && !error)) return {};
  try {
    if (const std::string why = why_others_may_write(path); !why.empty()) {
      log(Severity::warning, "the kernel cache '", path, "' is not used, for it holds machine code and ", why,
          ": kernels are compiled again");
      return {};
    }
    return parse(read_file(path), path, log);
  } catch (const Error& e) {
    log(Severity::warning, "the kernel cache is not used: ", e.what());
    return {};
  }
}

void save_code(const std::string& path, const backends::CodeList& list, const Log& log) {
  if (path.empty() || list.empty()) return;
  try {
    const FileLock lock(path, log);
    const std::string before = read_file(path);
    const bool damaged = !before.empty() && !before.starts_with(kHeader);
    if (damaged) keep_damaged(path, before, "kernel cache", log);
    backends::CodeList merged = list;
    if (!damaged && before.size() < kMaxBytes && why_others_may_write(path).empty())
      for (auto& code : parse(before, path, {})) merged.push_back(std::move(code));
    if (const std::string after = std::string(kHeader) + backends::write_code(std::move(merged)); after != before) write_file(path, after);
  } catch (const Error& e) {
    log(Severity::warning, "the kernel cache is not saved: ", e.what());
  }
}

}  // namespace tenfold::tune
