// Lines of labels.
#include "formats/samples/labels.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>

#include "formats/files.h"
#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

constexpr const char* kBlanks = " \t\r";

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<std::int64_t> class_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

struct Line {
  std::string file, label;   // no file: a label alone
};

// The last comma or blank divides: names of files may hold blanks.
Line parted(const std::string& line) {
  std::size_t at = line.rfind(',');
  if (at == line.npos) at = line.find_last_of(kBlanks);
  if (at == line.npos) return {"", line};
  return {std::filesystem::path(trimmed(line.substr(0, at))).filename().string(), trimmed(line.substr(at + 1))};
}

}  // namespace

Labels::Labels(const std::string& path, const std::string& name) : path_(path), name_(name) {
  std::string text = read_whole(path);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);   // a byte order mark
  std::istringstream lines(text);
  int number = 0;
  bool first = true;
  for (std::string line; std::getline(lines, line);) {
    ++number, line = trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorKind::io, name_ + ": line " + std::to_string(number) + " of '" + path + "' " + why + ": '" +
                                     line.substr(0, 80) + "'");
    };
    const auto [file, label] = parted(line);
    const auto value = class_number(label);
    const bool titles = first && !value && line.find(',') != line.npos;
    first = false;
    if (titles) continue;
    if (!value) refuse("has no class, which is a whole number from 0 on");
    if (file.empty() ? !by_file_.empty() : !in_order_.empty()) refuse("is of another form than those before it");
    if (file.empty()) in_order_.push_back(*value);
    else if (const auto at = by_file_.emplace(file, *value).first; at->second != *value) refuse("gives its file another class than before");
    largest_ = std::max(largest_, *value);
  }
  if (in_order_.empty() && by_file_.empty()) throw Error(ErrorKind::io, name_ + ": no labels in '" + path + "'");
}

std::int64_t Labels::of(std::size_t number, const std::string& path) const {
  if (by_file_.empty()) {
    if (number < in_order_.size()) return in_order_[number];
    throw Error(ErrorKind::io, name_ + ": '" + path_ + "' has " + std::to_string(in_order_.size()) + " labels, too few: sample " +
                                   std::to_string(number) + (path.empty() ? "" : " ('" + path + "')") + " has none");
  }
  if (path.empty())
    throw Error(ErrorKind::io, name_ + ": '" + path_ + "' names files, and the samples are arrays: give a class for each, in their order");
  const auto at = by_file_.find(std::filesystem::path(path).filename().string());
  if (at == by_file_.end()) throw Error(ErrorKind::io, name_ + ": '" + path_ + "' does not name '" + path + "'");
  return at->second;
}

}  // namespace tenfold::formats
