// What neural translation drops and takes for spaces.
#include "text/tokenizers/normalize/normalizer.h"

namespace tenfold::tokenizing {
namespace {

bool is_dropped(char32_t c) {
  return (c >= 0x1 && c <= 0x8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f;
}

bool is_space(char32_t c) {
  switch (c) {
    case 0x9: case 0xa: case 0xc: case 0xd: case 0x1680: case 0x2028: case 0x2029: case 0x2581: case 0xfeff: case 0xfffd: return true;
    default: return c >= 0x200b && c <= 0x200f;
  }
}

class Nmt : public Normalizer {
 public:
  void run(Chars& chars, const Room&) const override {
    std::erase_if(chars, [](const Char& one) { return is_dropped(one.c); });
    for (Char& one : chars)
      if (is_space(one.c)) one.c = ' ';
  }
};

}  // namespace

std::unique_ptr<Normalizer> read_nmt(const Json&) { return std::make_unique<Nmt>(); }

}  // namespace tenfold::tokenizing
