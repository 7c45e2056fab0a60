// The rows of `tenfold serve`'s flags that are about windows which are answered one by one.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_pattern_rows(Flags& flags, PatternFlags& options) {
  flags.group("Pattern engine");
  flags.add({"pattern-engine", "FILE",
             "a plan, or a model of fixed shapes, for POST /infer {\"window\": [...]}: one at a time, without a queue; repeatable: the "
             "next one answers where one fails",
             [&options](const std::string& text) { options.engines.push_back(text); }});
}

}  // namespace tenfold::cli
