// Composing the bodies of pointwise nodes.
#include "passes/bodies.h"

#include <algorithm>

#include "passes/match.h"

namespace tenfold::passes {

std::optional<ir::Body> body_of(const ir::Node& n) {
  if (n.outputs.size() != 1 || !n.graphs.empty()) return std::nullopt;
  for (const ir::Value* v : n.inputs)
    if (!v || v->type.kind != ir::ValueType::Kind::tensor || v->dtype() == DType::string) return std::nullopt;
  if (n.def->traits.region) return n.body->reduced_rank == 0 && n.body->outputs.size() == 1 ? n.body : std::nullopt;
  if (n.body || !n.def->scalar || !n.def->pure) return std::nullopt;
  ir::Body body = n.def->scalar(n);
  if (body.inputs.size() != n.inputs.size() || body.outputs.size() != 1 || body.reduced_rank) return std::nullopt;
  return body;
}

// Operands that are one constant number become constants of the body: kernels then need not fetch them.
void inline_scalars(ir::Body& body, std::vector<ir::Value*>& operands, int first_operand) {
  for (std::size_t k = operands.size(); k-- > 0;) {
    const ir::Value* v = operands[k];
    if (!v->is_constant() || v->constant->tensor.size() != 1 || v->rank() > 1) continue;
    if (v->dtype() == DType::i64 || v->dtype() == DType::u64) continue;   // a double cannot hold them all
    bool others = first_operand > 0;   // something else must keep the rank
    for (const ir::Value* o : operands) others = others || (o != v && o->rank() >= v->rank());
    if (!others) continue;
    const std::size_t input = k + static_cast<std::size_t>(first_operand);
    if (body.inputs.size() < 2) return;                                   // the last operand gives the region its shape
    const std::optional<double> number = scalar_of(v);
    if (!number) continue;                                                // a refit may change it
    ir::Instr constant{.prim = ir::Prim::constant, .dtype = v->dtype(), .imm = *number};
    const auto renumber = [&](std::uint16_t value) {   // the constant takes the first place of the code, the input goes
      const std::size_t inputs = body.inputs.size();
      if (value == input) return static_cast<std::uint16_t>(inputs - 1);
      return static_cast<std::uint16_t>(value > input && value < inputs ? value - 1 : value);
    };
    for (ir::Instr& instr : body.code) instr.a = renumber(instr.a), instr.b = renumber(instr.b), instr.c = renumber(instr.c);
    for (std::uint16_t& out : body.outputs) out = renumber(out);
    body.inputs.erase(body.inputs.begin() + static_cast<std::ptrdiff_t>(input));
    body.code.insert(body.code.begin(), constant);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

ir::Body append(const ir::Body& first, std::vector<ir::Value*>& operands, int first_operand, const ir::Body& next,
                const std::vector<ir::Value*>& next_operands, const ir::Value* link) {
  std::vector<int> links;
  for (ir::Value* v : next_operands) {
    if (v == link) {
      links.push_back(first.outputs[0]);
      continue;
    }
    auto known = std::find(operands.begin(), operands.end(), v);
    const auto position = known - operands.begin();
    if (known != operands.end() && position < static_cast<std::ptrdiff_t>(first.inputs.size()) - first_operand) {
      links.push_back(static_cast<int>(position) + first_operand);
    } else {
      links.push_back(-1);
      operands.push_back(v);
    }
  }
  ir::Body both = ir::simplify(ir::compose(first, next, links));
  inline_scalars(both, operands, first_operand);
  return ir::simplify(both);
}

bool read_by_alone(const ir::Graph& graph, const ir::Value* v, const ir::Node& reader) {
  return !graph.is_output(v) && std::count(v->users.begin(), v->users.end(), &reader) == static_cast<std::ptrdiff_t>(v->users.size());
}

ir::Node* join_as_region(ir::Graph& graph, ir::Node& n, ir::Value* v, const ir::Body& first, const ir::Body& own) {
  ir::Node &producer = *v->producer, region;
  std::vector<ir::Value*> operands = producer.inputs;
  region.def = &graph.registry().get("Region"), region.name = n.name;
  region.body = append(first, operands, 0, own, n.inputs, v);
  region.inputs = operands;
  ir::Node* added = graph.add(std::move(region), 1, &n);
  graph.replace_uses(n.out(), added->out());
  graph.erase(n);
  graph.erase(producer);
  return added;
}

ir::Body feed(const ir::Body& body, int input, const ir::Body& producer) {
  ir::Body fed = body;
  const int inputs = static_cast<int>(body.inputs.size()), shift = static_cast<int>(producer.code.size());
  const auto moved = [&](std::vector<ir::Instr> code, const auto& number) {
    for (ir::Instr& i : code) {
      const int n = ir::arity(i.prim);
      if (n > 0) i.a = number(i.a);
      if (n > 1) i.b = number(i.b);
      if (n > 2) i.c = number(i.c);
    }
    return code;
  };
  const auto in_producer = [&](int v) { return static_cast<std::uint16_t>(v == 0 ? input : v - 1 + inputs); };
  const auto in_body = [&](int v) {
    return v == input ? in_producer(producer.outputs[0]) : static_cast<std::uint16_t>(v < inputs ? v : v + shift);
  };
  fed.inputs[static_cast<std::size_t>(input)] = producer.inputs[0];
  fed.code = moved(producer.code, in_producer);
  const std::vector<ir::Instr> rest = moved(body.code, in_body);
  fed.code.insert(fed.code.end(), rest.begin(), rest.end());
  for (std::uint16_t& out : fed.outputs) out = in_body(out);
  return ir::simplify(fed);
}

}  // namespace tenfold::passes
