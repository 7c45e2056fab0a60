// Places of tokens without the spaces that tokens begin or end with.
#pragma once

#include <unordered_map>

#include "text/tokenizers/models/model.h"
#include "text/tokenizers/postprocess/post_processor.h"

namespace tenfold::tokenizing {

class Trimmer {
 public:
  Trimmer(std::vector<Trim> trims, const std::unordered_map<std::int32_t, std::string>& tokens);
  bool does_nothing() const { return trims_.empty(); }
  void run(std::vector<Token>& tokens) const;
  // Of a token that was added, whose text may have more spaces than the token.
  static void count_spaces(Word text, Token& token);

 private:
  struct Spaces { std::uint32_t before, behind; };
  std::vector<Trim> trims_;
  std::unordered_map<std::int32_t, Spaces> spaces_;   // of tokens that have some
};

}  // namespace tenfold::tokenizing
