// Printing products of few rows.
#include "backends/cuda/codegen/gemm/gemv.h"

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

std::string epilogue_of_one(const GemmProblem& p, const ir::Body* combine) {
  std::string out;
  std::vector<std::string> results{"mine"};
  if (combine) out += print_body(*combine, {"mine", "other"}, "c", "  ", results);
  std::vector<std::string> inputs{results[0]};
  for (std::size_t o = 0; o < p.epilogue.size(); ++o) {
    const DType dtype = p.epilogue[o].dtype;
    const EpilogueKind kind = p.epilogue[o].kind;
    const char* at = kind == EpilogueKind::single   ? "0"
                     : kind == EpilogueKind::column ? "n"
                     : kind == EpilogueKind::row    ? "m"
                                                    : "m * N + n";
    out += cat("const ", storage_type(dtype), " x", o, " = ((const ", storage_type(dtype), "*)a.epilogue[", o, "])[", at, "];\n");
    out += cat("  const ", compute_type(dtype), " e", o, " = ", loaded(dtype, cat("x", o)), ";\n  ");
    inputs.push_back(cat("e", o));
  }
  if (p.body) out += print_body(*p.body, inputs, "t", "  ", results);
  return out + cat("  a.y[m * N + n] = ", stored(p.out, results[0]), ";");
}

}  // namespace

std::string generate_gemv(const GemmProblem& p, int rows, const GemvExtras& extras) {
  KernelText text;
  std::int64_t width = 128 / bits(p.in);
  while (p.k % width != 0) width /= 2;
  text.define("IN", storage_type(p.in)), text.define("OUT", storage_type(p.out)), text.define("LOAD(x)", loaded(p.in, "(x)"));
  text.define("N", p.n), text.define("K", p.k), text.define("ROWS", rows), text.define("WARPS", gemv_warps(p, rows)),
      text.define("WIDTH", width);
  text.define("NORM", extras.norm ? 1 : 0), text.define("EPSILON", cat(decimal(extras.epsilon), "f"));
  text.define("SCALE", storage_type(extras.scale)), text.define("LOAD_SCALE(x)", loaded(extras.scale, "(x)"));
  text.define("PAIR", extras.combine ? 1 : 0);
  text.define_code("EPILOGUE", epilogue_of_one(p, extras.combine));
  return text.of("gemm/gemv.cu");
}

}  // namespace tenfold::backends::cuda
