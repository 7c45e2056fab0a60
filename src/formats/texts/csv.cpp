#include "formats/texts/csv.h"

#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

class Reader {
 public:
  Reader(std::string_view text, char separator, const std::string& what) : text_(text), separator_(separator), what_(what) {}

  std::vector<CsvRecord> run() {
    std::vector<CsvRecord> records;
    while (at_ < text_.size()) {
      CsvRecord record{line_, {}};
      do record.fields.push_back(field());
      while (at_ < text_.size() && text_[at_++] == separator_);
      if (record.fields.size() > 1 || !record.fields[0].empty()) records.push_back(std::move(record));
      ++line_;
    }
    return records;
  }

 private:
  // Up to its separator or line end; a carriage return before a line feed is part of that.
  std::string field() {
    std::string value;
    if (at_ < text_.size() && text_[at_] == '"') quoted(value);
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n') value.push_back(text_[at_++]);
    if ((at_ == text_.size() || text_[at_] == '\n') && value.ends_with('\r')) value.pop_back();
    return value;
  }
  void quoted(std::string& value) {
    const int begins = line_;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') return void(++at_);
        ++at_;
      }
      if (text_[at_] == '\n') ++line_;
      value.push_back(text_[at_]);
    }
    throw Error(ErrorKind::io, what_ + ": the quote of line " + std::to_string(begins) + " is not closed");
  }

  std::string_view text_;
  char separator_;
  const std::string& what_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<CsvRecord> parse_csv(std::string_view text, char separator, const std::string& what) {
  return Reader(text, separator, what).run();
}

}  // namespace tenfold::formats
