// What the pre-tokenizer and the decoder Metaspace share.
#pragma once

#include "text/tokenizers/pretokenize/pre_tokenizer.h"

namespace tenfold::tokenizing {

struct MetaspaceForm {
  enum Scheme : std::uint8_t { always, first, never } scheme = always;   // where a text gets one more in front: first: at its beginning
  char32_t space = 0x2581;
};
MetaspaceForm read_metaspace_form(const Json& json);

}  // namespace tenfold::tokenizing
