#include "formats/texts/text_stream.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "formats/files.h"
#include "formats/texts/csv.h"
#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

// Of one text, so that memory stays bounded where a file has no ends of lines, or a quote is never closed.
constexpr std::size_t kMaxOfAText = std::size_t{64} << 20;

struct Lines {
  std::ifstream in;
  std::string what;
  std::int64_t line = 0;
  std::vector<char> piece = std::vector<char>(1 << 16);

  explicit Lines(const std::string& path) : what("'" + path + "'") {
    expect_readable(path);
    in.open(path, std::ios::binary);
  }
  bool next(std::string& text) {
    if (!get(text)) {
      if (in.bad()) throw Error(ErrorKind::io, what + " cannot be read after line " + std::to_string(line));
      return false;
    }
    ++line;
    expect_bounded(text);
    if (text.ends_with('\r')) text.pop_back();
    return true;
  }
  // As std::getline, which would read on for ever.
  bool get(std::string& text) {
    text.clear();
    for (;;) {
      in.getline(piece.data(), static_cast<std::streamsize>(piece.size()));
      const auto got = static_cast<std::size_t>(in.gcount());
      const bool ended = in.eof(), whole = in.good();
      text.append(piece.data(), got - (whole ? 1 : 0));   // the line's end counts, and is not there
      if (whole || ended || in.bad()) return whole || !text.empty();
      in.clear();   // the piece is full
      if (got == 0 || text.size() > kMaxOfAText) return true;
    }
  }
  void expect_bounded(const std::string& text) const {
    if (text.size() > kMaxOfAText) wrong("is a text of more than 64 MiB; a text for an encoder is a line or a field");
  }
  [[noreturn]] void wrong(const std::string& why) const { throw Error(ErrorKind::io, what + ": line " + std::to_string(line) + " " + why); }
};

TextStream json_lines(const std::string& path, const std::string& column, const std::string& name) {
  return [lines = std::make_shared<Lines>(path), field = column.empty() ? "text" : column, name](std::string& text) {
    do
      if (!lines->next(text)) return false;
    while (text.empty());
    constexpr int kDeepest = 128, kMaxValues = 1 << 20;   // a value takes up to a hundred times its text in memory
    int values = 0;
    const auto within = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
      if (depth > kDeepest || ++values > kMaxValues)
        lines->wrong("has more than " + std::to_string(kMaxValues) + " values of JSON, or more than " + std::to_string(kDeepest) +
                     " inside each other");
      return true;
    };
    const nlohmann::json json = nlohmann::json::parse(text, within, false);
    const nlohmann::json* value = json.is_object() && json.contains(field) ? &json.at(field) : &json;
    if (!value->is_string())
      lines->wrong("is neither a JSON string nor an object with a string '" + field + "'; " + name + " names it");
    text = value->get<std::string>();
    return true;
  };
}

// Records of a table. A record goes on while a quote is open.
class Table {
 public:
  Table(const std::string& path, const std::string& column, const std::string& name)
      : lines_(path), separator_(extension(path) == ".tsv" ? '\t' : ',') {
    if (column.empty())
      throw Error(ErrorKind::invalid_argument,
                  name + "=NAME is missing: which column of '" + path + "'? By its title or its number from 0 on");
    std::vector<std::string> first;
    if (!record(first)) return;
    const auto title = std::find(first.begin(), first.end(), column);
    if (title != first.end()) {
      at_ = static_cast<std::size_t>(title - first.begin());
      return;
    }
    const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), at_);
    if (error != std::errc() || end != column.data() + column.size() || at_ >= first.size())
      lines_.wrong("has no column '" + column + "'");
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
    for (std::ptrdiff_t quotes = 0;;) {
      if (!lines_.next(line)) {
        if (!text.empty()) lines_.wrong("ends inside a quote");
        return false;
      }
      text += line;
      lines_.expect_bounded(text);
      quotes += std::count(line.begin(), line.end(), '"');
      if (quotes % 2 != 0) {
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

TextStream open_texts(const std::string& path, const std::string& column, const std::string& name) {
  const std::string kind = extension(path);
  if (kind == ".jsonl" || kind == ".ndjson") return json_lines(path, column, name);
  if (kind == ".csv" || kind == ".tsv")
    return [table = std::make_shared<Table>(path, column, name)](std::string& text) { return table->next(text); };
  if (!column.empty()) throw Error(ErrorKind::invalid_argument, name + " is for .csv, .tsv and .jsonl files");
  return [lines = std::make_shared<Lines>(path)](std::string& text) { return lines->next(text); };
}

}  // namespace tenfold::formats
