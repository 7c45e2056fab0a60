// The cache's file: a header line, then one line for each key, sorted: time, machine, tactic, config and problem between tabs.
#include "tune/timing/timing_cache.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/files/file.h"

namespace tenfold::tune {
namespace {

constexpr std::string_view kHeader = "tenfold timing cache 2";

std::string escaped(std::string_view raw) {
  std::string out;
  for (char c : raw) {
    if (c == '\\') out += "\\\\";
    else if (c == '\t') out += "\\t";
    else if (c == '\n') out += "\\n";
    else out += c;
  }
  return out;
}
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) out += text[i];
    else out += text[++i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i];
  }
  return out;
}

std::string_view next_piece(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view piece = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return piece;
}

bool parse_line(std::string_view line, TimingKey& key, double& nanoseconds) {
  std::array<std::string_view, 5> fields;
  if (std::count(line.begin(), line.end(), '\t') != static_cast<std::ptrdiff_t>(fields.size()) - 1) return false;
  for (std::string_view& field : fields) field = next_piece(line, '\t');
  const auto [end, error] = std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), nanoseconds);
  if (error != std::errc{} || end != fields[0].data() + fields[0].size() || !std::isfinite(nanoseconds) || nanoseconds < 0) return false;
  key = {unescaped(fields[1]), unescaped(fields[4]), unescaped(fields[2]), unescaped(fields[3])};
  return !key.problem.empty() && !key.tactic.empty();
}

bool is_cache(std::string_view text) { return text.empty() || next_piece(text, '\n') == kHeader; }

}  // namespace

std::optional<double> TimingCache::find(const TimingKey& key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? std::nullopt : std::optional<double>(it->second);
}

bool TimingCache::has_machine(std::string_view begins_with) const {
  const auto it = entries_.lower_bound({std::string(begins_with), {}, {}, {}});
  return it != entries_.end() && it->first.machine.starts_with(begins_with);
}

void TimingCache::insert(const TimingKey& key, double nanoseconds) {
  const auto [it, fresh] = entries_.try_emplace(key, nanoseconds);
  if (!fresh) it->second = std::min(it->second, nanoseconds);
}

void TimingCache::merge(const TimingCache& other) {
  for (const auto& [key, nanoseconds] : other.entries_) insert(key, nanoseconds);
}

std::string TimingCache::text() const {
  std::string out(kHeader);
  out += '\n';
  for (const auto& [key, nanoseconds] : entries_) {
    char number[32];   // the shortest text that reads back as the same double: a build from the cache decides as the one that measured
    out.append(number, std::to_chars(number, number + sizeof number, nanoseconds).ptr);
    for (const std::string* field : {&key.machine, &key.tactic, &key.config, &key.problem}) out += '\t' + escaped(*field);
    out += '\n';
  }
  return out;
}

TimingCache TimingCache::parse(std::string_view text, const std::string& source, const Log& log) {
  TimingCache cache;
  if (!is_cache(text)) {
    log(Severity::warning, "'", source, "' is not a timing cache of this version (its first line should be '", kHeader, "'): not used");
    return cache;
  }
  next_piece(text, '\n');
  int line = 1, bad = 0, first_bad = 0;
  while (!text.empty()) {
    ++line;
    TimingKey key;
    double nanoseconds = 0;
    if (parse_line(next_piece(text, '\n'), key, nanoseconds)) cache.insert(key, nanoseconds);
    else if (++bad == 1) first_bad = line;
  }
  if (bad > 0) log(Severity::warning, "timing cache '", source, "': ", bad, " damaged lines left out, the first is line ", first_bad);
  return cache;
}

TimingCache TimingCache::load(const std::string& path, const Log& log) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return {};
  try {
    return parse(read_file(path), path, log);
  } catch (const Error& e) {
    log(Severity::warning, "the timing cache is not used: ", e.what());
    return {};
  }
}

TimingCache TimingCache::save(const std::string& path, const Log& log) const {
  try {
    const FileLock lock(path, log);
    const std::string before = read_file(path);
    TimingCache merged;
    if (is_cache(before)) merged = parse(before, path, log);
    else keep_damaged(path, before, "timing cache", log);
    merged.merge(*this);
    if (std::string after = merged.text(); after != before) write_file(path, after);
    return merged;
  } catch (const Error& e) {
    log(Severity::warning, "the timing cache is not saved: ", e.what());
    return *this;
  }
}

}  // namespace tenfold::tune
