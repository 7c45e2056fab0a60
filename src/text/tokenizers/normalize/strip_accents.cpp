#include "text/tokenizers/normalize/normalizer.h"
#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::tokenizing {
namespace {

class StripAccents : public Normalizer {
 public:
  void run(Chars& chars, const Room&) const override { strip(chars, kCombining); }
};

}  // namespace

void strip(Chars& chars, Kind marks) {
  std::erase_if(chars, [marks](const Char& one) { return one.c >= 0x80 && Unicode::tables().is(one.c, marks); });
}

std::unique_ptr<Normalizer> read_strip_accents(const Json&) { return std::make_unique<StripAccents>(); }

}  // namespace tenfold::tokenizing
