// How tokens are kept within a length, and brought to one.
#pragma once

#include <optional>
#include <vector>

#include "tenfold/text.h"
#include "text/json.h"
#include "text/tokenizers/models/model.h"

namespace tenfold::tokenizing {

struct Truncation {
  enum Strategy : std::uint8_t { longest_first, only_first, only_second };
  int length = 0;   // most tokens; 0: any number
  Strategy strategy = longest_first;
  bool from_left = false;
};
Truncation read_truncation(const Json& file);
// Leaves room for `special` tokens. Throws invalid_argument where that cannot be.
void truncate(const Truncation& how, int special, std::vector<Token>& first, std::vector<Token>* second);

struct Padding {
  Tokenizer::Padding mode = Tokenizer::Padding::none;
  int length = 0, multiple = 1;
  std::int32_t id = 0, type = 0;
  bool on_left = false;
};
Padding read_padding(const Json& file);
int padded_length(const Padding& how, std::size_t longest);
void pad(const Padding& how, int length, Encoding& encoding);   // a longer one stays as it is

}  // namespace tenfold::tokenizing
