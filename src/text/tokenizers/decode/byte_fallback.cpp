#include "text/chars.h"
#include "text/fail.h"
#include "text/tokenizers/decode/decoder.h"

namespace tenfold::tokenizing {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Of "<0x61>"; -1: it is no byte.
int byte_of(const std::string& token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  if (token[3] == '+') return digit_of(token[4]);   // as the reference's numbers may have a sign
  const int high = digit_of(token[3]), low = digit_of(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool is_text(const std::string& bytes) {
  try {
    scalars(bytes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Runs of tokens that stand for bytes become text, or one sign a byte where they are none.
class ByteFallback : public Decoder {
 public:
  void run(std::vector<std::string>& tokens, const Room&) const override {
    std::vector<std::string> result;
    std::string open;
    const auto close = [&] {
      if (open.empty()) return;
      if (is_text(open)) result.push_back(open);
      else result.insert(result.end(), open.size(), "\xef\xbf\xbd");
      open.clear();
    };
    for (std::string& token : tokens) {
      if (const int byte = byte_of(token); byte >= 0) {
        open += static_cast<char>(byte);
        continue;
      }
      close();
      result.push_back(std::move(token));
    }
    close();
    tokens = std::move(result);
  }
};

}  // namespace

std::unique_ptr<Decoder> read_byte_fallback(const Json&) { return std::make_unique<ByteFallback>(); }

}  // namespace tenfold::tokenizing
