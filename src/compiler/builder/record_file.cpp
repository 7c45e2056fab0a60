// A header line; then for each key a line "key count" and as many lines.
#include "builder/record_file.h"

#include <filesystem>
#include <sstream>

#include "base/check.h"
#include "base/files/file.h"

namespace tenfold::builder {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{4} << 20;   // then it starts again

}  // namespace

std::string text_of(const Hash128& hash) {
  std::ostringstream out;
  out << std::hex << hash.high << '.' << hash.low;
  return out.str();
}

RecordFile::RecordFile(const std::string& timing_cache, std::string_view suffix, std::string_view header)
    : path_(timing_cache.empty() ? "" : cat(timing_cache, suffix)), header_(cat(header, "\n")) {}

std::string RecordFile::content() const {
  std::error_code none;
  if (path_.empty() || !std::filesystem::exists(path_, none)) return "";
  try {
    std::string text = read_file(path_);
    return text.starts_with(header_) ? text : "";
  } catch (const Error&) {
    return "";
  }
}

std::optional<std::vector<std::string>> RecordFile::find(const Hash128& key) const {
  std::istringstream in(content());
  const std::string requested = text_of(key);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream head(line);
    std::string found;
    std::size_t count = 0;
    if (!(head >> found >> count)) return std::nullopt;
    std::vector<std::string> lines;
    for (; count > 0 && std::getline(in, line); --count)
      if (found == requested) lines.push_back(std::move(line));
    if (count == 0 && found == requested) return lines;
  }
  return std::nullopt;
}

void RecordFile::add(const Hash128& key, const std::vector<std::string>& lines, const Log& log) const {
  if (path_.empty()) return;
  std::string record = cat(text_of(key), " ", lines.size(), "\n");
  for (const std::string& line : lines) {
    if (line.find('\n') != std::string::npos) return;
    record += line + "\n";
  }
  try {
    const FileLock lock(path_, log);
    std::string text = read_file(path_);
    if (!text.empty() && !text.starts_with(header_)) {
      keep_damaged(path_, text, "file of records", log);
      text.clear();
    }
    if (text.empty() || text.size() > kMaxBytes) text = header_;
    write_file(path_, text + record);
  } catch (const Error& e) {
    log(Severity::warning, "what this build found out is not kept for the next: ", e.what());
  }
}

}  // namespace tenfold::builder
