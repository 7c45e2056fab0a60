// The rows of `tenfold serve`'s flags that are about what Triton has and this server does not.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_refused_rows(Flags& flags) {
  for (const char* name : {"http-header-forward-pattern"})
    flags.refuse(name, "serve the model by Triton and libtriton_tenfold.so");
}

}  // namespace tenfold::cli
