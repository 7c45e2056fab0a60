// Text form of a Body: "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0.5) -> %3", reductions with "over=1" in front of the arrow.
#include <charconv>

#include "base/check.h"
#include "ir/body.h"
#include "ir/scan.h"

namespace tenfold::ir {

std::string text(const Body& body) {
  std::string out = "(";
  for (std::size_t i = 0; i < body.inputs.size(); ++i) out += (i ? "," : "") + std::string(name(body.inputs[i]));
  out += ")";
  for (std::size_t i = 0; i < body.code.size(); ++i) {
    const Instr& instr = body.code[i];
    out += cat(" %", body.inputs.size() + i, "=", name(instr.prim), ".", name(instr.dtype), "(");
    if (instr.prim == Prim::constant) {
      char buffer[64];
      out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, instr.imm).ptr);
    }
    const std::uint16_t operands[3] = {instr.a, instr.b, instr.c};
    for (int k = 0; k < arity(instr.prim); ++k) out += cat(k ? "," : "", "%", operands[k]);
    out += ")";
  }
  if (body.reduced_rank) out += cat(" over=", body.reduced_rank);
  out += " ->";
  for (std::uint16_t v : body.outputs) out += cat(" %", v);
  return out;
}

namespace {
DType dtype_word(Scanner& in, const std::string& word) {
  const auto type = dtype_from_name(word);
  if (!type) in.bad("unknown element type '" + word + "'");
  return *type;
}
Prim prim_word(Scanner& in, const std::string& word) {
  for (int p = 0; p < static_cast<int>(Prim::count_); ++p)
    if (word == name(static_cast<Prim>(p))) return static_cast<Prim>(p);
  in.bad("unknown primitive '" + word + "'");
}
std::uint16_t value_number(Scanner& in) {
  in.expect('%');
  const std::int64_t v = in.integer();
  if (v < 0 || v >= 65536) in.bad("value number out of range");
  return static_cast<std::uint16_t>(v);
}
}  // namespace

Body parse_body(Scanner& in) {
  Body body;
  in.expect('(');
  while (!in.take(')')) {
    body.inputs.push_back(dtype_word(in, in.until(",)")));
    in.take(',');
  }
  while (in.peek() == '%') {
    value_number(in);
    in.expect('=');
    Instr instr;
    instr.prim = prim_word(in, in.until("."));
    in.expect('.');
    instr.dtype = dtype_word(in, in.until("("));
    in.expect('(');
    if (instr.prim == Prim::constant) instr.imm = in.to_double(in.number());
    std::uint16_t* slots[3] = {&instr.a, &instr.b, &instr.c};
    for (int k = 0; k < arity(instr.prim); ++k) {
      if (k) in.expect(',');
      *slots[k] = value_number(in);
    }
    in.expect(')');
    body.code.push_back(instr);
  }
  if (in.take("over=")) body.reduced_rank = static_cast<int>(in.integer());
  if (!in.take("->")) in.bad("'->' expected");
  while (in.peek() == '%') body.outputs.push_back(value_number(in));
  try {
    verify(body);
  } catch (const Error& e) {   // a text is nobody's contradiction but its writer's
    in.bad(e.what());
  }
  return body;
}

Body parse_body(std::string_view text) {
  Scanner in(text);
  Body body = parse_body(in);
  in.expect_end();
  return body;
}

}  // namespace tenfold::ir
