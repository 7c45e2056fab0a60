// Printing epilogues of products.
#include "backends/cuda/codegen/gemm_tail.h"

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::string print_tail(const GemmProblem& p, int staged, const std::function<std::string(const std::string&)>& store) {
  std::string out;
  std::vector<std::string> inputs{"(sum[v])"}, results{"sum[v]"};
  for (std::size_t o = 0; o < p.tail.size(); ++o) {
    const DType dtype = p.tail[o].dtype;
    const std::string array = cat("x", o), from = cat("(const ", storage_type(dtype), "*)a.tail[", o, "]");
    if (p.tail[o].kind == TailKind::single) {
      out += cat("    const ", storage_type(dtype), " ", array, " = *(", from, ");\n");
      inputs.push_back(loaded(dtype, array));
      continue;
    }
    out += cat("    ", storage_type(dtype), " ", array, "[WIDTH];\n");
    if (static_cast<int>(o) == staged)
      out += cat("    read_staged(", array, ");\n");
    else
      out += cat("    read<WIDTH>(", from, p.tail[o].kind == TailKind::whole ? cat(" + m * ", p.width(), " + n, ") : " + n, ", array, ");\n");
    inputs.push_back(loaded(dtype, array + "[v]"));
  }
  out += "    #pragma unroll\n    for (int v = 0; v < WIDTH; ++v) {\n";
  if (p.body) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      out += cat("      const ", compute_type(p.body->inputs[i]), " e", i, " = ", inputs[i], ";\n");
      names.push_back(cat("e", i));
    }
    out += print_body(*p.body, names, "t", "      ", results);
  }
  return out + cat("      ", store(results[0]), "\n    }\n");
}

}  // namespace tenfold::backends::cuda
