// Printing tiled products.
#include "backends/cuda/codegen/gemm/gemm_tiled.h"

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

std::string epilogue_pointers(const TiledProblem& p) {
  std::string out;
  for (std::size_t o = 0; o < p.epilogue.size(); ++o)
    out += cat("const ", storage_type(p.epilogue[o]), "* const p", o, " = (const ", storage_type(p.epilogue[o]), "*)a.epilogue[", o,
               "] + matrix_at(a, a.at_epilogue[", o, "], batch);\n  ");
  return out;
}

std::string epilogue_of_one(const TiledProblem& p) {
  std::string out;
  std::vector<std::string> inputs{"e"}, results{"all"};
  if (p.body) out += cat("const ", compute_type(p.body->inputs[0]), " e = all;\n");
  for (std::size_t o = 0; o < p.epilogue.size(); ++o) {
    const std::string element = cat("p", o, "[m * a.at_epilogue[", o, "].down + n * a.at_epilogue[", o, "].across]");
    out += cat("      const ", compute_type(p.epilogue[o]), " e", o, " = ", loaded(p.epilogue[o], element), ";\n");
    inputs.push_back(cat("e", o));
  }
  if (p.body) out += print_body(*p.body, inputs, "t", "      ", results);
  return out + cat("      y[m * a.at_y.down + n * a.at_y.across] = ", stored(p.out, results[0]), ";");
}

}  // namespace

std::string generate_gemm_tiled(const TiledProblem& p, const TiledTile& tile) {
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  const bool wide = p.in == DType::f64;
  define("IN", storage_type(p.in)), define("OUT", storage_type(p.out)), define("LOAD(x)", loaded(p.in, "(x)"));
  define("ACC", wide ? "double" : "float"), define("DEPTH", (tile.rows * tile.columns > 64 * 64 ? 16 : 32) / (wide ? 2 : 1));
  define("ROWS", tile.rows), define("COLUMNS", tile.columns), define("DOWN", tile.warps_down), define("ACROSS", tile.warps_across);
  text.define_code("EPILOGUE_POINTERS", epilogue_pointers(p)), text.define_code("EPILOGUE", epilogue_of_one(p));
  text.define("VECTORS", p.vectors ? 1 : 0), text.define("SINGLES", p.singles ? 1 : 0);
  text.define("VECTORS_ALONG", cat(p.a_along ? 1 : 0, ", ", p.b_along ? 1 : 0));
  return text.of("gemm/gemm_tiled.cu");
}

}  // namespace tenfold::backends::cuda
