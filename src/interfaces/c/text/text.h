// What the files of the text library's C interface share.
#pragma once

#include "c/run/common.h"
#include "tenfold/c/decoder.h"
#include "tenfold/decoder.h"

struct tenfold_decoder {
  tenfold::Decoder decoder;
};
struct tenfold_generated {
  std::vector<tenfold::Generated> all;
};
struct tenfold_decoder_session {
  tenfold::DecoderSession session;
};

namespace tenfold::c {

using Ids = std::vector<std::int32_t>;

// Lists of ids as C++ has them; a list of no ids may be null.
std::vector<Ids> lists_of(const std::int32_t* const* lists, const std::int32_t* sizes, std::int32_t count);
DecoderOptions decoder_options_of(const tenfold_decoder_options* given);
GenerateCall call_of(const tenfold_generate_options* given);
// A text with its final zero, as much as there is room for; `bytes`: room, then what it takes.
void give_text(const std::string& text, char* to, std::int64_t* bytes);

}  // namespace tenfold::c
