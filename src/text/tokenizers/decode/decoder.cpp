#include "text/tokenizers/decode/decoder.h"

namespace tenfold::tokenizing {

std::unique_ptr<Decoder> read_decoder(const Json& json) {
  const std::string type = json.type();
  if (type == "BPEDecoder") return read_bpe_decoder(json);
  if (type == "ByteFallback") return read_byte_fallback(json);
  if (type == "ByteLevel") return read_byte_level_decoder(json);
  if (type == "CTC") return read_ctc(json);
  if (type == "Fuse") return read_fuse(json);
  if (type == "Metaspace") return read_metaspace_decoder(json);
  if (type == "Replace") return read_replace_decoder(json);
  if (type == "Sequence") return read_decoders(json);
  if (type == "Strip") return read_strip_decoder(json);
  if (type == "WordPiece") return read_word_piece_decoder(json);
  json.missing_component("BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, Metaspace, Replace, Sequence, Strip and WordPiece");
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  if (what.empty()) return;
  std::string result;
  std::size_t open = 0;
  for (std::size_t at = 0; (at = text.find(what, open)) != std::string::npos; open = at + what.size())
    result.append(text, open, at - open), result += by;
  if (open > 0) text = result.append(text, open);
}

}  // namespace tenfold::tokenizing
