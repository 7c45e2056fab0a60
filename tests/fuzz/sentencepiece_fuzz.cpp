// libFuzzer target: models of SentencePiece. Any bytes end in a model with pieces, or in an Error.
#include <string_view>

#include "base/check.h"
#include "cpu_limit.h"
#include "text/tokenizers/files/sentencepiece_model.h"

using namespace tenfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  try {
    const tokenizing::SentencepieceModel model = tokenizing::read_sentencepiece({reinterpret_cast<const char*>(data), size}, "input");
    check(!model.pieces.empty(), "a model without pieces");
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::invalid_model || error.kind() == ErrorKind::unsupported, "refused as something else: ", error.what());
  }
  return 0;
}
