// Printing GroupNorms.
#include "backends/cuda/codegen/norm/group_norm_nhwc.h"

#include <vector>

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"

namespace tenfold::backends::cuda {

std::string generate_group_norm_nhwc(const GroupNormNhwcProblem& p) {
  KernelText text;
  text.define("IN", storage_type(p.in)), text.define("OUT", storage_type(p.out)), text.define("LOAD(e)", loaded(p.in, "(e)"));
  text.define("CHANNELS", p.channels), text.define("GROUPS", p.groups), text.define("THREADS", kGroupNormNhwcThreads);
  text.define("EPSILON", cat(decimal(p.epsilon), "f"));
  std::vector<std::string> results{"x"};
  std::string code;
  if (p.body) code = print_body(*p.body, {"x"}, "t", "  ", results);
  text.define_code("EPILOGUE", code + cat("y[v] = ", stored(p.out, results[0]), ";\n"));
  return text.of("norm/group_norm_nhwc.cu");
}

}  // namespace tenfold::backends::cuda
