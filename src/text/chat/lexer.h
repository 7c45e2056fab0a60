// A chat template as tokens: data between tags, and what stands in tags. Rules of white space are those that transformers sets
// (trim_blocks, lstrip_blocks).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::chat {

enum class Token : std::uint8_t { data, block_begin, block_end, variable_begin, variable_end, name, text, integer, real, sign, end };

struct Lexed {
  Token kind = Token::end;
  std::string text;          // of data and texts: what they say; of signs: "==", "["
  int line = 1;
  bool is(std::string_view sign) const { return kind == Token::sign && text == sign; }
  bool named(std::string_view name) const { return kind == Token::name && text == name; }
};

// Throws invalid_model, with the line.
std::vector<Lexed> tokens_of(std::string_view source);

[[noreturn]] void wrong(int line, const std::string& what);        // invalid_model
[[noreturn]] void missing(int line, const std::string& what);      // unsupported

}  // namespace tenfold::chat
