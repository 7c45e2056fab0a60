// A header line; then for each key a line "key count" and as many lines "magnitude name".
#include "builder/precision/overflow_cache.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/files/file.h"
#include "base/threads/spread.h"
#include "ir/text.h"

namespace tenfold::builder {
namespace {

constexpr std::string_view kHeader = "tenfold ranges 1\n";
constexpr std::size_t kMostBytes = std::size_t{4} << 20;   // then it starts again

std::string text_of(const Hash128& key) {
  std::ostringstream out;
  out << std::hex << key.high << '.' << key.low;
  return out.str();
}

std::string line_of(const Tensor& t) {
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(t.raw()), static_cast<std::size_t>(t.bytes()));
  return cat(" ", name(t.dtype()), "[", text(t.shape()), "] ", t.dtype() == DType::string ? "" : text_of(hash128(bytes)), "\n");
}

std::string content(const std::string& path) {
  std::error_code none;
  if (path.empty() || !std::filesystem::exists(path, none)) return "";
  try {
    std::string text = read_file(path);
    return text.starts_with(kHeader) ? text : "";
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

std::optional<std::map<std::string, double>> OverflowCache::find(const Hash128& key) const {
  std::istringstream in(content(path_));
  const std::string wanted = text_of(key);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream head(line);
    std::string found;
    std::size_t count = 0;
    if (!(head >> found >> count)) return std::nullopt;
    std::map<std::string, double> result;
    for (; count > 0 && std::getline(in, line); --count) {
      const std::size_t space = line.find(' ');
      if (space == std::string::npos) return std::nullopt;
      result[line.substr(space + 1)] = std::strtod(line.c_str(), nullptr);
    }
    if (count == 0 && found == wanted) return result;
  }
  return std::nullopt;
}

void OverflowCache::add(const Hash128& key, const std::map<std::string, double>& found, const Log& log) const {
  if (path_.empty()) return;
  std::string record = cat(text_of(key), " ", found.size(), "\n");
  for (const auto& [name, most] : found) {
    if (name.find('\n') != std::string::npos) return;
    record += cat(most, " ", name, "\n");
  }
  try {
    const FileLock lock(path_);
    std::string text = content(path_);
    if (text.empty() || text.size() > kMostBytes) text = kHeader;
    write_file(path_, text + record);
  } catch (const Error& e) {
    log(Severity::warning, "what the check of fp16 found is not kept: ", e.what());
  }
}

Hash128 overflow_key(const ir::Graph& source, const std::vector<plan::Range>& ranges, const BuildConfig& config) {
  std::vector<std::shared_ptr<const ir::Constant>> constants;
  std::string text = cat(TENFOLD_VERSION, "\n", ir::print(source, {.constants = &constants}));
  std::vector<std::string> lines(constants.size());
  std::int64_t bytes = 0;
  for (const auto& constant : constants) bytes += constant->tensor.bytes();
  spread(static_cast<std::int64_t>(constants.size()), bytes,
         [&](std::int64_t i) { lines[static_cast<std::size_t>(i)] = line_of(constants[static_cast<std::size_t>(i)]->tensor); });
  for (const std::string& line : lines) text += line;
  for (const plan::Range& r : ranges) text += cat(r.symbol, " ", r.opt, "\n");
  text += cat("pack ", static_cast<int>(config.pack_tokens), "\n");   // which decide what values are called
  for (const std::string& pass : config.disabled_passes) text += pass + "\n";
  for (const auto& set : config.typical_inputs)
    for (const auto& [input, tensor] : set) text += input + line_of(tensor);
  return hash128(text);
}

}  // namespace tenfold::builder
