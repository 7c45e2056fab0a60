#include "text_stream.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "console.h"
#include "csv.h"
#include "files.h"
#include "flags.h"
#include "tenfold/error.h"

namespace tenfold::cli {
namespace {

struct Lines {
  std::ifstream in;
  std::string what;
  std::int64_t line = 0;

  explicit Lines(const std::string& path) : what("'" + path + "'") {
    expect_readable(path);
    in.open(path, std::ios::binary);
  }
  bool next(std::string& text) {
    if (!std::getline(in, text)) {
      if (in.bad()) throw Error(ErrorKind::io, what + " cannot be read behind line " + std::to_string(line));
      return false;
    }
    ++line;
    if (text.ends_with('\r')) text.pop_back();
    return true;
  }
  [[noreturn]] void wrong(const std::string& why) const { throw Error(ErrorKind::io, what + ": line " + std::to_string(line) + " " + why); }
};

TextStream json_lines(const std::string& path, const std::string& column) {
  return [lines = std::make_shared<Lines>(path), field = column.empty() ? "text" : column](std::string& text) {
    do
      if (!lines->next(text)) return false;
    while (text.empty());
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    const nlohmann::json* value = json.is_object() && json.contains(field) ? &json.at(field) : &json;
    if (!value->is_string())
      lines->wrong("is neither a JSON string nor an object with a string '" + printable(field) + "'; --column names it");
    text = value->get<std::string>();
    return true;
  };
}

// Records of a table. A record goes on while a quote is open.
class Table {
 public:
  Table(const std::string& path, const std::string& column) : lines_(path), separator_(extension(path) == ".tsv" ? '\t' : ',') {
    if (column.empty()) throw UsageError("--column=NAME is missing: which column of '" + path + "'? By its title or its number from 0 on");
    std::vector<std::string> first;
    if (!record(first)) return;
    const auto title = std::find(first.begin(), first.end(), column);
    if (title != first.end()) {
      at_ = static_cast<std::size_t>(title - first.begin());
      return;
    }
    const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), at_);
    if (error != std::errc() || end != column.data() + column.size() || at_ >= first.size())
      lines_.wrong("has no column '" + printable(column) + "'");
    kept_ = std::move(first), has_kept_ = true;  // without titles the first record is a text as well
  }
  bool next(std::string& text) {
    std::vector<std::string> fields;
    if (has_kept_)
      fields = std::move(kept_), has_kept_ = false;
    else if (!record(fields))
      return false;
    if (at_ >= fields.size())
      lines_.wrong("has " + std::to_string(fields.size()) + " fields, and column " + std::to_string(at_) + " is asked for");
    text = std::move(fields[at_]);
    return true;
  }

 private:
  bool record(std::vector<std::string>& fields) {
    std::string text, line;
    for (;;) {
      if (!lines_.next(line)) {
        if (!text.empty()) lines_.wrong("ends inside a quote");
        return false;
      }
      text += line;
      if (std::count(text.begin(), text.end(), '"') % 2 != 0) {
        text += '\n';
        continue;
      }
      std::vector<CsvRecord> records = parse_csv(text, separator_, lines_.what);
      text.clear();
      if (records.empty()) continue;
      fields = std::move(records.front().fields);
      return true;
    }
  }
  Lines lines_;
  char separator_;
  std::size_t at_ = 0;
  std::vector<std::string> kept_;
  bool has_kept_ = false;
};

}  // namespace

TextStream open_texts(const std::string& path, const std::string& column) {
  const std::string kind = extension(path);
  if (kind == ".jsonl" || kind == ".ndjson") return json_lines(path, column);
  if (kind == ".csv" || kind == ".tsv")
    return [table = std::make_shared<Table>(path, column)](std::string& text) { return table->next(text); };
  if (!column.empty()) throw UsageError("--column is for .csv, .tsv and .jsonl files");
  return [lines = std::make_shared<Lines>(path)](std::string& text) { return lines->next(text); };
}

}  // namespace tenfold::cli
