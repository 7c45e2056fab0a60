// Steps back into nodes.
#include "plan/step_node.h"

#include <algorithm>

#include "base/check.h"
#include "plan/step_problem.h"

namespace tenfold::plan {
namespace {

// Values for the symbols such that any two of them differ at some point, and each is small, large and odd at others.
std::vector<ir::SymbolValues> spread(const std::vector<std::string>& symbols, const ir::SymbolBounds& box) {
  constexpr std::int64_t kMany = 1 << 12;   // a size found in the run may have no bound worth the name
  enum Place { low, between, high };
  std::vector<ir::SymbolValues> points;
  const auto add = [&](auto&& place_of) {
    ir::SymbolValues& point = points.emplace_back();
    for (std::size_t s = 0; s < symbols.size(); ++s) {
      const ir::Interval range = box.at(symbols[s]);
      const std::int64_t max = std::max(range.lower, std::min(range.upper, range.lower + kMany + static_cast<std::int64_t>(s)));
      const Place place = place_of(s + 1);
      point[symbols[s]] = place == low ? range.lower : place == high ? max : range.lower + (max - range.lower) * 11 / 19;
    }
  };
  add([](std::size_t) { return low; });
  add([](std::size_t) { return high; });
  for (std::size_t bit = 1; bit <= symbols.size(); bit *= 2) {
    add([&](std::size_t s) { return s & bit ? high : between; });
    add([&](std::size_t s) { return s & bit ? between : high; });
  }
  return points;
}

// Extents of elements may be symbols that nothing else of the plan knows: they stand for any.
ir::ValueType object_type(const Program& top, ir::Graph& graph, const Operand& o, const ir::Dims& dims) {
  ir::ValueType type = top.objects[static_cast<std::size_t>(o.at.index)];
  if (type.is_tensor() && type.ranked) type.tensor.dims = dims;
  for (ir::Dim d : type.tensor.dims)
    for (const std::string& name : d.symbols())
      if (std::none_of(graph.symbols.begin(), graph.symbols.end(), [&](const ir::Symbol& s) { return s.name == name; }))
        graph.symbols.push_back({name, 0, ir::kUnbounded, ir::Origin::host_value});
  return type;
}

}  // namespace

// Values are asked of constants that are stored as they are, small ones and lists of integers (a Split's sizes).
ir::Value* add_operand(const Plan& plan, const Program& top, ir::Graph& graph, const Operand& o, const ir::Dims& dims) {
  if (o.at.space == Space::none) return nullptr;
  if (o.at.space == Space::literal) return graph.add_constant(plan.literals[static_cast<std::size_t>(o.at.index)]);
  if (o.at.space == Space::object) return graph.add_input("x", object_type(top, graph, o, dims));
  if (o.constant && !o.packed && o.dense && ir::is_constant(dims) && plan.weights != nullptr) {
    const Shape shape = ir::constants(dims);
    const auto owner = plan.weights_owner ? plan.weights_owner : std::make_shared<int>(0);
    if (element_count(shape) <= 1024 || (shape.size() == 1 && is_integer(o.dtype)))
      return graph.add_constant(Tensor(o.dtype, shape, owner, plan.bytes_of(static_cast<std::size_t>(o.at.index)) + o.at.offset));
  }
  return graph.add_input("x", {.tensor = {o.dtype, dims}});
}

const ir::Node* add_step(const Plan& plan, const Program& top, const Step& step, const std::vector<ir::Dims>& operands,
                         ir::Graph& graph) {
  ir::Node node;
  node.def = &graph.registry().get(step.op), node.name = step.name, node.attributes = step.attributes;
  node.numerics = step.numerics;
  if (step.has_body) {
    node.body = step.body;
    if (!node.def->traits.region) node.anchor_inputs = step.anchor_inputs;
  }
  for (std::size_t i = 0; i < step.in.size(); ++i) node.inputs.push_back(add_operand(plan, top, graph, step.in[i], operands[i]));
  return graph.add(std::move(node), static_cast<int>(step.out.size()));
}

void check_extents(const Plan& plan, const Program& top, const Step& step, const std::vector<Shape>& operands,
                   const ir::Registry& registry) {
  ir::Graph graph(registry);
  std::vector<ir::Dims> dims;
  for (const Shape& shape : operands) dims.push_back(ir::to_dims(shape));
  try {
    add_step(plan, top, step, dims, graph);
  } catch (const Error& e) {
    // The builder knew contents that a plan holds only in its dims.
    if (e.kind() != ErrorKind::unsupported) throw;
  }
}

Disagreements::Disagreements(const Plan& plan, const Program& top, const ir::Registry& registry)
    : plan_(plan), top_(top), registry_(registry) {
  const std::vector<std::string> symbols = symbol_names(top);
  if (symbols.empty()) return;
  for (const ir::SymbolValues& point : spread(symbols, program_box(top))) {
    try {
      points_.push_back(ir::evaluate(top.dims, point));
    } catch (const Error&) {   // such shapes do not run
    }
  }
}

bool Disagreements::possible(const Step& step) const {
  if (step.kind != StepKind::kernel && step.kind != StepKind::host) return false;
  if (step.attributes.has("graphs")) return false;   // the interpreter infers every type afresh
  const bool symbolic = std::any_of(step.in.begin(), step.in.end(), [&](const Operand& o) {
    return std::any_of(o.dims.begin(), o.dims.end(), [&](DimIndex d) { return !top_.dims[static_cast<std::size_t>(d)].is_constant(); });
  });
  return symbolic && std::any_of(points_.begin(), points_.end(), [&](const auto& dims) { return disagree(step, dims); });
}

bool Disagreements::disagree(const Step& step, std::span<const std::int64_t> dims) const {
  std::vector<Shape> shapes;
  for (const Operand& o : step.in) {
    Shape& shape = shapes.emplace_back();
    for (DimIndex d : o.dims) shape.push_back(dims[static_cast<std::size_t>(d)]);
    if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; })) return false;   // it does not run
  }
  try {
    check_extents(plan_, top_, step, shapes, registry_);
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace tenfold::plan
