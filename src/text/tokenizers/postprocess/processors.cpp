#include "text/fail.h"
#include "text/tokenizers/postprocess/post_processor.h"

namespace tenfold::tokenizing {

Template read_processors(const Json& json) {
  Template all = whole_texts();
  std::string with_tokens;   // the type of the one that puts tokens in
  for (const Json& one : json.list("processors")) {
    Template form = read_template(one);
    const std::string type = one.type();
    for (Trim trim : form.trims) {
      trim.first_is_special |= with_tokens == "BertProcessing" || with_tokens == "RobertaProcessing";
      all.trims.push_back(trim);
    }
    if (type == "ByteLevel") continue;
    if (!with_tokens.empty())
      fail(ErrorKind::unsupported,
           one.where + ": a " + type + " after a " + with_tokens + " is not supported; one that adds tokens is");
    with_tokens = type, all.single = std::move(form.single), all.pair = std::move(form.pair);
  }
  return all;
}

}  // namespace tenfold::tokenizing
