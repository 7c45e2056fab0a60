// SentencePiece's map of strings to strings: a double-array trie (Aoe 1989) of UTF-8, and what its values point to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace tenfold::tokenizing {

class Charsmap {
 public:
  // Of the bytes that a model of SentencePiece has. Throws invalid_model.
  Charsmap(std::string_view bytes, const Json& where);
  // What the shortest string with which `text` begins becomes, if the map has one. A trie that leads outside has none.
  std::optional<std::string_view> find(std::string_view text) const;

 private:
  std::vector<std::uint32_t> units_;
  std::string texts_;   // each ends with a zero
};

}  // namespace tenfold::tokenizing
