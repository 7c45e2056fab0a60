// Body: the table of primitives, the builder, verification, composition and clean-up.
#include "ir/body.h"

#include <algorithm>
#include <array>
#include <map>
#include <bit>

#include "base/check.h"

namespace tenfold::ir {
namespace {

struct Row { const char* name; int arity; };
constexpr std::array<Row, static_cast<std::size_t>(Prim::count_)> kRows{{
    {"constant", 0}, {"cast", 1}, {"saturate", 1},
    {"neg", 1}, {"abs", 1}, {"sign", 1}, {"sqrt", 1}, {"rsqrt", 1}, {"reciprocal", 1}, {"exp", 1}, {"log", 1}, {"erf", 1}, {"tanh", 1},
    {"sigmoid", 1}, {"floor", 1}, {"ceil", 1}, {"round_even", 1},
    {"sin", 1}, {"cos", 1}, {"tan", 1}, {"asin", 1}, {"acos", 1}, {"atan", 1}, {"sinh", 1}, {"cosh", 1}, {"asinh", 1}, {"acosh", 1},
    {"atanh", 1}, {"logical_not", 1}, {"bit_not", 1}, {"is_nan", 1}, {"is_inf", 1},
    {"add", 2}, {"sub", 2}, {"mul", 2}, {"div", 2}, {"pow", 2}, {"min", 2}, {"max", 2}, {"mod", 2}, {"fmod", 2}, {"bit_and", 2},
    {"bit_or", 2}, {"bit_xor", 2}, {"shift_left", 2}, {"shift_right", 2},
    {"eq", 2}, {"ne", 2}, {"lt", 2}, {"le", 2}, {"gt", 2}, {"ge", 2}, {"logical_and", 2}, {"logical_or", 2}, {"logical_xor", 2},
    {"select", 3}, {"fma", 3},
    {"reduce_sum", 1}, {"reduce_max", 1}, {"reduce_min", 1},
}};

bool gives_boolean(Prim p) {
  return p == Prim::logical_not || p == Prim::is_nan || p == Prim::is_inf || (p >= Prim::eq && p <= Prim::logical_xor);
}

std::uint16_t operand(const Instr& i, int k) { return k == 0 ? i.a : k == 1 ? i.b : i.c; }
void set_operand(Instr& i, int k, std::uint16_t v) { (k == 0 ? i.a : k == 1 ? i.b : i.c) = v; }

}  // namespace

const char* name(Prim prim) { return kRows[static_cast<std::size_t>(prim)].name; }
int arity(Prim prim) { return kRows[static_cast<std::size_t>(prim)].arity; }
bool is_reduction(Prim prim) { return prim == Prim::reduce_sum || prim == Prim::reduce_max || prim == Prim::reduce_min; }

DType Body::type_of(int value) const {
  const auto v = static_cast<std::size_t>(value);
  return v < inputs.size() ? inputs[v] : code[v - inputs.size()].dtype;
}

std::uint16_t BodyBuilder::emit(Instr instr) {
  check(body_.value_count() < 60000, "a body has too many instructions");
  body_.code.push_back(instr);
  return static_cast<std::uint16_t>(body_.value_count() - 1);
}
std::uint16_t BodyBuilder::constant(DType dtype, double value) { return emit({.prim = Prim::constant, .dtype = dtype, .imm = value}); }
std::uint16_t BodyBuilder::cast(std::uint16_t a, DType to) {
  return type_of(a) == to ? a : emit({.prim = Prim::cast, .dtype = to, .a = a});
}
std::uint16_t BodyBuilder::unary(Prim prim, std::uint16_t a) {
  return emit({.prim = prim, .dtype = gives_boolean(prim) ? DType::boolean : type_of(a), .a = a});
}
std::uint16_t BodyBuilder::binary(Prim prim, std::uint16_t a, std::uint16_t b) {
  return emit({.prim = prim, .dtype = gives_boolean(prim) ? DType::boolean : type_of(a), .a = a, .b = b});
}
std::uint16_t BodyBuilder::select(std::uint16_t condition, std::uint16_t a, std::uint16_t b) {
  return emit({.prim = Prim::select, .dtype = type_of(a), .a = condition, .b = a, .c = b});
}
Body BodyBuilder::finish(std::vector<std::uint16_t> outputs) {
  body_.outputs = std::move(outputs);
  verify(body_);
  return std::move(body_);
}

void verify(const Body& body) {
  check(body.value_count() < 65536, "a body has too many values");
  check(!body.outputs.empty(), "a body has no output");
  for (DType t : body.inputs) check(t < DType::string, "a body input is not numeric");
  bool reduces = false;
  for (std::size_t i = 0; i < body.code.size(); ++i) {
    const Instr& instr = body.code[i];
    check(instr.prim < Prim::count_ && instr.dtype < DType::string, "instruction ", i, " of a body is malformed");
    for (int k = 0; k < arity(instr.prim); ++k)
      check(operand(instr, k) < body.inputs.size() + i, "instruction ", i, " of a body uses value ", operand(instr, k),
            " before it is made");
    const auto type = [&](int k) { return body.type_of(operand(instr, k)); };
    if (gives_boolean(instr.prim)) check(instr.dtype == DType::boolean, "a ", name(instr.prim), " gives booleans");
    const bool same = arity(instr.prim) == 2;
    if (same) check(type(0) == type(1), "operands of ", name(instr.prim), " are ", name(type(0)), " and ", name(type(1)));
    if (same && !gives_boolean(instr.prim)) check(type(0) == instr.dtype, name(instr.prim), " changes the type");
    if (arity(instr.prim) == 1 && instr.prim != Prim::cast && instr.prim != Prim::saturate && !gives_boolean(instr.prim))
      check(type(0) == instr.dtype, name(instr.prim), " changes the type");
    if (instr.prim == Prim::select)
      check(type(0) == DType::boolean && type(1) == type(2) && type(1) == instr.dtype, "select has operands of other types");
    if (instr.prim == Prim::fma)
      check(type(0) == type(1) && type(1) == type(2) && type(0) == instr.dtype, "fma has operands of other types");
    reduces = reduces || is_reduction(instr.prim);
  }
  check(body.reduced_rank >= 0 && body.reduced_rank <= 64 && (!reduces || body.reduced_rank > 0), "a body reduces over no dims");
  for (std::uint16_t v : body.outputs) check(v < body.value_count(), "a body's output ", v, " does not exist");
}

Body compose(const Body& first, const Body& next, const std::vector<int>& links) {
  check(links.size() == next.inputs.size(), "compose: one link per input");
  check(first.reduced_rank == 0 || next.reduced_rank == 0 || first.reduced_rank == next.reduced_rank, "compose: different reductions");
  Body out = first;
  out.reduced_rank = std::max(first.reduced_rank, next.reduced_rank);
  for (std::size_t i = 0; i < links.size(); ++i)
    if (links[i] < 0) out.inputs.push_back(next.inputs[i]);
  const auto added = static_cast<std::uint16_t>(out.inputs.size() - first.inputs.size());
  const auto shift = [&](std::uint16_t v) { return static_cast<std::uint16_t>(v < first.inputs.size() ? v : v + added); };
  for (Instr& instr : out.code)
    for (int k = 0; k < arity(instr.prim); ++k) set_operand(instr, k, shift(operand(instr, k)));
  std::vector<std::uint16_t> map(static_cast<std::size_t>(next.value_count()));
  std::uint16_t fresh = static_cast<std::uint16_t>(first.inputs.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i] < 0) {
      map[i] = fresh++;
    } else {
      map[i] = shift(static_cast<std::uint16_t>(links[i]));
      check(first.type_of(links[i]) == next.inputs[i], "compose: value types differ");
    }
  }
  for (std::size_t i = 0; i < next.code.size(); ++i) {
    Instr instr = next.code[i];
    for (int k = 0; k < arity(instr.prim); ++k) set_operand(instr, k, map[operand(instr, k)]);
    map[next.inputs.size() + i] = static_cast<std::uint16_t>(out.value_count());
    out.code.push_back(instr);
  }
  out.outputs.clear();
  for (std::uint16_t v : next.outputs) out.outputs.push_back(map[v]);
  return out;
}

Body simplify(const Body& body) {
  Body out;
  out.inputs = body.inputs;
  out.reduced_rank = body.reduced_rank;
  std::vector<bool> needed(static_cast<std::size_t>(body.value_count()), false);
  for (std::uint16_t v : body.outputs) needed[v] = true;
  for (std::size_t i = body.code.size(); i-- > 0;)
    if (needed[body.inputs.size() + i])
      for (int k = 0; k < arity(body.code[i].prim); ++k) needed[operand(body.code[i], k)] = true;
  std::vector<std::uint16_t> map(static_cast<std::size_t>(body.value_count()), 0);
  for (std::size_t i = 0; i < body.inputs.size(); ++i) map[i] = static_cast<std::uint16_t>(i);
  std::map<std::string, std::uint16_t> seen;
  bool reduces = false;
  for (std::size_t i = 0; i < body.code.size(); ++i) {
    if (!needed[body.inputs.size() + i]) continue;
    Instr instr = body.code[i];
    for (int k = 0; k < arity(instr.prim); ++k) set_operand(instr, k, map[operand(instr, k)]);
    reduces = reduces || is_reduction(instr.prim);
    const std::string key = cat(name(instr.prim), ' ', name(instr.dtype), ' ', instr.a, ' ', instr.b, ' ', instr.c, ' ',
                                std::to_string(std::bit_cast<std::uint64_t>(instr.imm)));
    auto [it, fresh] = seen.try_emplace(key, static_cast<std::uint16_t>(out.value_count()));
    if (fresh) out.code.push_back(instr);
    map[body.inputs.size() + i] = it->second;
  }
  if (!reduces) out.reduced_rank = 0;
  for (std::uint16_t v : body.outputs) out.outputs.push_back(map[v]);
  return out;
}

}  // namespace tenfold::ir
