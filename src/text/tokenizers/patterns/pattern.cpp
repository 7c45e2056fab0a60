#include "text/tokenizers/patterns/pattern.h"

namespace tenfold::tokenizing {

std::unique_ptr<Pattern> read_pattern(const Json& json) {
  if (json.has("String")) return make_literal(json.text("String"));
  if (!json.has("Regex")) json.wrong("'String' or 'Regex' was expected");
  const std::string regex = json.text("Regex");
  if (std::unique_ptr<Pattern> known = make_scanner(regex)) return known;
  return make_pcre2(regex, json);
}

}  // namespace tenfold::tokenizing
