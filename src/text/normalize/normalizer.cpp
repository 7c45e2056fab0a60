#include "text/normalize/normalizer.h"

namespace tenfold::tokenizing {

std::unique_ptr<Normalizer> read_normalizer(const Json& json) {
  const std::string type = json.type();
  if (type == "BertNormalizer") return read_bert_normalizer(json);
  if (type == "Lowercase") return read_lower_case(json);
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") return read_normal_form(json);
  if (type == "Sequence") return read_normalizers(json);
  if (type == "Strip") return read_strip(json);
  if (type == "StripAccents") return read_strip_accents(json);
  json.missing_component("BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Sequence, Strip and StripAccents");
}

}  // namespace tenfold::tokenizing
