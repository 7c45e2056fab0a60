// Normalizers: what happens to a text before it is parted into words. One file each.
#pragma once

#include <memory>

#include "text/chars.h"
#include "text/json.h"
#include "text/tokenizers/room.h"
#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::tokenizing {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void run(Chars& chars, const Room& room) const = 0;   // throws unsupported where the text becomes too long
};
// Throws invalid_model and unsupported.
std::unique_ptr<Normalizer> read_normalizer(const Json& json);

std::unique_ptr<Normalizer> read_bert_normalizer(const Json& json);
std::unique_ptr<Normalizer> read_byte_level_normalizer(const Json& json);
std::unique_ptr<Normalizer> read_lower_case(const Json& json);
std::unique_ptr<Normalizer> read_nmt(const Json& json);
std::unique_ptr<Normalizer> read_normal_form(const Json& json);   // NFC, NFD, NFKC, NFKD
std::unique_ptr<Normalizer> read_normalizers(const Json& json);   // Sequence
std::unique_ptr<Normalizer> read_precompiled(const Json& json);
std::unique_ptr<Normalizer> read_prepend(const Json& json);
std::unique_ptr<Normalizer> read_replace(const Json& json);
std::unique_ptr<Normalizer> read_strip(const Json& json);
std::unique_ptr<Normalizer> read_strip_accents(const Json& json);

void lower_case(Chars& chars);
void strip(Chars& chars, Kind marks);

}  // namespace tenfold::tokenizing
