#include "text/tokenizers/byte_level.h"

#include "text/tokenizers/decode/decoder.h"

namespace tenfold::tokenizing {
namespace {

// Letters become their bytes; a token with another letter stands for itself.
class ByteLevelDecoder : public Decoder {
 public:
  void run(std::vector<std::string>& tokens, const Room&) const override {
    std::string bytes;
    for (const std::string& token : tokens) {
      std::string own;
      bool is_whole = true;
      for (const char32_t letter : scalars(token)) {
        const int byte = byte_of(letter);
        is_whole = is_whole && byte >= 0;
        own += static_cast<char>(byte);
      }
      bytes += is_whole ? own : token;
    }
    tokens.assign(1, as_text(bytes));
  }
};

// How many bytes at `at` are the beginning of a character, and whether they are all of it (Unicode Standard, table 3-7).
struct Beginning { std::size_t length; bool is_whole; };
Beginning beginning(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned { return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0; };
  const unsigned first = byte(0);
  const std::size_t size = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3
                           : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  if (size < 2) return {1, size == 1};
  const unsigned min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < min || byte(1) > max) return {1, false};
  for (std::size_t i = 2; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return {i, false};
  return {size, true};
}

}  // namespace

std::string as_text(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto [length, is_whole] = beginning(bytes, at);
    if (is_whole) text += bytes.substr(at, length);
    else text += "\xef\xbf\xbd";
    at += length;
  }
  return text;
}

std::unique_ptr<Decoder> read_byte_level_decoder(const Json&) { return std::make_unique<ByteLevelDecoder>(); }

}  // namespace tenfold::tokenizing
