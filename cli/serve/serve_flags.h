// The flags of `tenfold serve`. The verb shows them, and the program tenfold-server parses them.
#pragma once

#include "flags/flags.h"
#include "serve/flags/options.h"

namespace tenfold::cli {

Flags make_serve_flags(ServeOptions& options);   // it refers to `options`
// The arguments of a start as Text Embeddings Inference has it (--model-id, MODEL_ID): behind its defaults and its variables. Others stay.
std::vector<std::string> with_tei_variables(const std::vector<std::string>& arguments);
// The model that a command line names, by its one word or by --model-id. Throws UsageError.
std::string served_path(const ServeOptions& options, const std::vector<std::string>& words);

}  // namespace tenfold::cli
