// From a step back to the problem its tactic was chosen for.
#include "plan/step_problem.h"

#include <algorithm>

#include "base/check.h"

namespace tenfold::plan {

ir::SymbolBounds program_box(const Program& program) {
  ir::SymbolBounds box;
  for (const Range& r : program.box) box[r.symbol] = {r.min, r.max};
  for (const ir::Symbol& s : program.symbols)
    if (!box.count(s.name)) box[s.name] = {s.lower.bounds(box).lower, s.upper.bounds(box).upper};
  return box;
}

std::vector<std::string> symbol_names(const Program& program) {
  std::vector<std::string> names;
  for (const Range& r : program.box) names.push_back(r.symbol);
  for (const ir::Symbol& s : program.symbols)
    if (std::find(names.begin(), names.end(), s.name) == names.end()) names.push_back(s.name);
  return names;
}

std::vector<std::vector<std::int32_t>> symbols_of_steps(const Program& program) {
  std::map<std::string, std::int32_t, std::less<>> number;
  for (const std::string& name : symbol_names(program)) {
    const auto next = static_cast<std::int32_t>(number.size());
    number.emplace(name, next);
  }
  std::vector<std::vector<std::int32_t>> result;
  for (ir::Dim d : program.dims) {
    auto& list = result.emplace_back();
    for (const std::string& symbol : d.symbols())
      if (const auto found = number.find(symbol); found != number.end() && found->second >= static_cast<std::int32_t>(program.box.size()))
        list.push_back(found->second);
  }
  return result;
}

namespace {
backends::OperandDesc describe(const Operand& o, const std::vector<ir::Dim>& dims) {
  backends::OperandDesc d;
  d.missing = o.at.space == Space::none;
  d.dtype = o.dtype;
  for (DimIndex i : o.dims) d.dims.push_back(dims.at(static_cast<std::size_t>(i)));
  d.layout = o.layout;
  d.constant = o.constant;
  d.misaligned = o.at.offset % backends::kVectorBytes != 0;   // views lie somewhere behind an aligned address
  d.dense = o.dense;
  if (!o.dense)
    for (DimIndex i : o.strides) d.strides.push_back(dims.at(static_cast<std::size_t>(i)));
  return d;
}
}  // namespace

backends::Problem step_problem(const Step& step, const std::vector<ir::Dim>& dims, const ir::SymbolBounds& box,
                               const backends::DeviceInfo& device, const ir::Registry& registry) {
  backends::Problem p;
  p.op = &registry.get(step.op);
  p.attributes = &step.attributes;
  p.numerics = step.numerics;
  p.body = step.has_body ? &step.body : nullptr;
  p.anchor_inputs = step.anchor_inputs;
  for (const Operand& o : step.in) p.in.push_back(describe(o, dims));
  for (const Operand& o : step.out) p.out.push_back(describe(o, dims));
  p.box = &box;
  p.device = &device;
  return p;
}

}  // namespace tenfold::plan
