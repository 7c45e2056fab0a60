#include "text/tokenizers/byte_level.h"

#include "text/tokenizers/normalize/normalizer.h"

namespace tenfold::tokenizing {
namespace {

class ByteLevel : public Normalizer {
 public:
  void run(Chars& chars, const Room&) const override {
    Chars letters(utf8_length(chars));
    write_byte_letters(chars, letters.data());
    chars = std::move(letters);
  }
};

}  // namespace

std::unique_ptr<Normalizer> read_byte_level_normalizer(const Json&) { return std::make_unique<ByteLevel>(); }

}  // namespace tenfold::tokenizing
