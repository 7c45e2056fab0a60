#include "text/tokenizers/files/read_json.h"

#include <nlohmann/json.hpp>

#include "text/fail.h"

namespace tenfold::tokenizing {
namespace {

// Up to the first byte that is no JSON, which the parser finds, this sees what the parser sees.
void expect_within(std::string_view text, const std::string& what, const JsonLimits& limits) {
  const auto refuse = [&](const std::string& why) { fail(ErrorKind::invalid_model, what + why); };
  if (text.size() > limits.bytes)
    refuse(" has " + std::to_string(text.size()) + " bytes of JSON; " + std::to_string(limits.bytes) + " are the most");
  std::size_t values = 1;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    else if (in_string) i += c == '\\';
    else if (c == '[' || c == '{') ++depth, ++values;
    else if (c == ']' || c == '}') --depth;
    else if (c == ',') ++values;
    if (depth > limits.depth)
      refuse(": at byte " + std::to_string(i) + " more than " + std::to_string(limits.depth) +
             " lists and objects of JSON lie inside each other, which are the most");
    if (values > limits.values)
      refuse(" has more than " + std::to_string(limits.values) + " values of JSON, which are the most");
  }
}

}  // namespace

nlohmann::json parsed(std::string_view text, const std::string& what, const JsonLimits& limits) {
  expect_within(text, what, limits);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {  // its own text has bytes of the file, which may be no UTF-8
    fail(ErrorKind::invalid_model, what + " is no JSON: byte " + std::to_string(e.byte) + " of " + std::to_string(text.size()) +
                                       " is not what may stand there, or the file ends too early");
  } catch (const nlohmann::json::exception&) {   // a number beyond the largest
    fail(ErrorKind::invalid_model, what + " has a number that is too large for JSON here");
  }
}

}  // namespace tenfold::tokenizing
