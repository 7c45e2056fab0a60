#include "text/tokenizers/normalize/normalizer.h"

namespace tenfold::tokenizing {

std::unique_ptr<Normalizer> read_normalizer(const Json& json) {
  const std::string type = json.type();
  if (type == "BertNormalizer") return read_bert_normalizer(json);
  if (type == "ByteLevel") return read_byte_level_normalizer(json);
  if (type == "Lowercase") return read_lower_case(json);
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") return read_normal_form(json);
  if (type == "Nmt") return read_nmt(json);
  if (type == "Precompiled") return read_precompiled(json);
  if (type == "Prepend") return read_prepend(json);
  if (type == "Replace") return read_replace(json);
  if (type == "Sequence") return read_normalizers(json);
  if (type == "Strip") return read_strip(json);
  if (type == "StripAccents") return read_strip_accents(json);
  json.missing_component("BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, "
                         "Strip and StripAccents");
}

}  // namespace tenfold::tokenizing
