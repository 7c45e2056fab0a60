// Patterns: what of a text they match. One file each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"
#include "text/tokenizers/pretokenize/pre_tokenizer.h"

namespace tenfold::tokenizing {

// A stretch of a text, in places of its characters.
struct Match {
  std::size_t begin, end;
  bool is_match;   // or what stands between two
};

class Pattern {
 public:
  virtual ~Pattern() = default;
  // Appends matches and what stands between them, which cover the text. Throws invalid_argument where a pattern takes too many steps.
  virtual void find(Word text, std::vector<Match>& matches) const = 0;
};
// Of {"String": "..."} or {"Regex": "..."}. Throws invalid_model and unsupported.
std::unique_ptr<Pattern> read_pattern(const Json& json);

std::unique_ptr<Pattern> make_literal(const std::string& text);
// Those that are scanned by hand: every model of a family has the same. Null: `regex` is none of them.
std::unique_ptr<Pattern> make_scanner(std::string_view regex);
std::unique_ptr<Pattern> make_gpt2();
std::unique_ptr<Pattern> make_pcre2(const std::string& regex, const Json& where);

}  // namespace tenfold::tokenizing
