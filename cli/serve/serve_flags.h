// The flags of `tenfold serve`. The verb shows them, and the program tenfold-server parses them.
#pragma once

#include "flags/flags.h"
#include "serve/flags/options.h"

namespace tenfold::cli {

Flags make_serve_flags(ServeOptions& options);   // it refers to `options`
// The arguments of a start as Text Embeddings Inference has it (--model-id, MODEL_ID): behind its defaults and its variables. Others stay.
std::vector<std::string> with_tei_variables(const std::vector<std::string>& arguments);
// The words of a command line, with the model that --model-id names.
std::vector<std::string> named_model(const ServeOptions& options, std::vector<std::string> words);
// What no single flag can tell. Throws UsageError.
void check_serve(const ServeOptions& options, const std::vector<std::string>& words);

}  // namespace tenfold::cli
