// What text routes permit, for all models.
#pragma once

#include <cstddef>
#include <string>

namespace tenfold::server {

struct TextOptions {
  std::size_t max_texts = 2048;                  // in a list; 1 at least
  bool truncate = true;                          // texts with too many tokens, where a request does not say; false: they are refused
  bool allow_token_input = false;                // ids in place of texts
  bool allow_dimensions = false;                 // of models that do not say that their vectors may be cut
  int tokenizers = 0;                            // threads for large requests; 0: as many as processors, 8 at most
  bool any_model_name = false;                   // one model answers to all names, as TEI's does
};

}  // namespace tenfold::server
