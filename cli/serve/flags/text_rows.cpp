// The rows of `tenfold serve`'s flags that are about text, with the names that Text Embeddings Inference has.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_text_rows(Flags& flags, TextFlags& options) {
  flags.group("Text, of encoders' folders");
  flags.add({"max-batch-tokens", "N",
             "the most tokens of a batch; longer texts are truncated to it (16384 on GPUs, 2048 on CPUs, or the model's longest text)",
             [&options](const std::string& text) { options.batch_tokens = parse_int("max-batch-tokens", text, 1, 1 << 24); }});
  flags.add({"max-client-batch-size", "N", "the most texts in a request's list (2048)",
             [&options](const std::string& text) { options.max_texts = parse_int("max-client-batch-size", text, 1, 1 << 20); }});
  add_bool(flags, "auto-truncate", options.truncate,
           "texts with too many tokens are truncated where the request does not say; false: refused (true)");
  flags.add_text("default-prompt-name", options.prompt_name, "NAME",
                 "of the folder's prompts, put in front of each text; default: the folder's default prompt");
  flags.add_text("default-prompt", options.prompt, "TEXT", "put in front of each text, in place of a prompt of the folder's");
  flags.add_text("calibration-texts", options.calibration, "FILE",
                 "for --precision=int8: texts like those to come, one a line; default: ten built-in sentences");
  add_number(flags, "tokenization-workers", options.tokenizers, 0, 1024,
             "threads that tokenize long lists; 0: as many as processors, 8 at most (0)");
  flags.add_switch("allow-token-input", options.token_input, "lists of token ids are taken in place of texts");
  flags.add_switch("allow-dimensions", options.dimensions,
                   "vectors are cut to any 'dimensions', though the folder does not say that they may be");
}

}  // namespace tenfold::cli
