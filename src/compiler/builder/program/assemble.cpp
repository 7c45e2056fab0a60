// One program of a plan, for one box of shapes.
#include "builder/program/assemble.h"

#include "base/check.h"
#include "builder/program/program_builder.h"

namespace tenfold::builder {

namespace {
void add_bounds(const ir::Graph& graph, ir::SymbolBounds& box) {
  for (const auto& [symbol, range] : graph.box()) box.try_emplace(symbol, range);
  for (const auto& node : graph.nodes())
    for (const auto& body : node->graphs) add_bounds(*body, box);
}
}  // namespace

ir::SymbolBounds all_bounds(const ir::Graph& graph) {
  ir::SymbolBounds box;
  add_bounds(graph, box);
  return box;
}

plan::Program assemble(const ir::Graph& graph, const tune::Choice& choice, ConstantPool& constants, const AssembleOptions& options,
                       std::uint32_t& needs) {
  DimTable table;
  ir::SymbolBounds box = all_bounds(graph);
  for (const plan::Range& r : options.box) {
    box[r.symbol] = {r.min, r.max};
    ir::Symbol symbol{.name = r.symbol, .lower = ir::Dim(r.min), .upper = ir::Dim(r.max), .origin = ir::Origin::input_dim};
    table.symbols.push_back(std::move(symbol));
  }
  ProgramBuilder builder(graph, choice, constants, table, box, options, needs);
  plan::Program program = builder.build();
  program.box = options.box;
  program.symbols = std::move(table.symbols);
  program.dims = std::move(table.dims);
  program.grown = std::move(table.grown);
  return program;
}

}  // namespace tenfold::builder
