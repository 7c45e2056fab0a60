// Finding what of a loop's body depends on sizes that only the run knows.
#include "runtime/engine/loop_sizes.h"

#include <algorithm>
#include <set>

#include "runtime/engine/opened.h"

namespace tenfold::runtime {
namespace {

using plan::Operand;
using plan::Step;

struct Used {
  std::set<plan::DimIndex> dims;
  std::set<std::size_t> grown;
};

void add(const plan::Program& top, const plan::Program& body, Used& used) {
  const auto grown = [&](std::int32_t buffer) {
    used.grown.insert(static_cast<std::size_t>(buffer));
    used.dims.insert(top.grown[static_cast<std::size_t>(buffer)]);
  };
  const auto operands = [&](const std::vector<Operand>& list) {
    for (const Operand& o : list) {
      used.dims.insert(o.dims.begin(), o.dims.end());
      used.dims.insert(o.strides.begin(), o.strides.end());
      if (o.at.space == plan::Space::grown) grown(o.at.index);
    }
  };
  operands(body.inputs), operands(body.outputs);
  for (const Step& step : body.steps) {
    operands(step.in), operands(step.out);
    if (step.workspace_dynamic >= 0) grown(step.workspace_dynamic);
    for (const plan::Program& nested : step.programs) add(top, nested, used);
  }
}

}  // namespace

LoopSizes loop_sizes(const OpenTop& top, const plan::Program& program, const Step& loop, const std::vector<char>& grows) {
  LoopSizes sizes;
  const plan::LoopForm form = plan::loop_form(loop);
  sizes.places = plan::loop_places(loop, form);
  for (std::size_t c = 0; c < form.carried; ++c) {
    sizes.changes.push_back(plan::changes_extents(loop, form, c));
    const Operand &formal = loop.programs[0].inputs[form.header + c], &entering = loop.in[form.header + c];
    const Operand& leaving = loop.programs[0].outputs[form.body_header() + c];
    for (std::size_t d = 0; d < formal.dims.size(); ++d)
      if (formal.dims[d] != entering.dims[d] || formal.dims[d] != leaving.dims[d])   // a symbol: verify() has looked
        sizes.extents.push_back({top.defined_by_steps[static_cast<std::size_t>(formal.dims[d])].at(0), c, d});
  }
  for (std::size_t s = form.carried; s < form.first_spare(); ++s) {
    const std::vector<std::int32_t>& length = top.defined_by_steps[static_cast<std::size_t>(loop.out[s].dims[0])];
    const bool counted = std::any_of(length.begin(), length.end(), [&](std::int32_t symbol) {
      return std::find(loop.defines.begin(), loop.defines.end(), symbol) != loop.defines.end();
    });
    sizes.counted.push_back(counted);
    sizes.grows.push_back(counted && grows[s]);
  }
  Used used;
  add(program, loop.programs[0], used);
  std::vector<ir::Dim> dims;
  for (plan::DimIndex d : used.dims) {
    if (top.defined_by_steps[static_cast<std::size_t>(d)].empty()) continue;
    sizes.dims.push_back(d);
    dims.push_back(program.dims[static_cast<std::size_t>(d)]);
  }
  sizes.code = ir::DimCode(dims, top.symbols);
  sizes.grown.assign(used.grown.begin(), used.grown.end());
  return sizes;
}

}  // namespace tenfold::runtime
