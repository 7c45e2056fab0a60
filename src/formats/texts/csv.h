// Records of comma- or tab-separated values (RFC 4180): fields in quotes may hold separators, line ends, and quotes written twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenfold::formats {

struct CsvRecord {
  int line = 0;   // on which it begins, from 1 on
  std::vector<std::string> fields;
};
// Lines without anything are none. Throws Error(io) for a quote that is not closed; `what` names the text.
std::vector<CsvRecord> parse_csv(std::string_view text, char separator, const std::string& what);

}  // namespace tenfold::formats
