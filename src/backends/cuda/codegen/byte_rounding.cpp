// Finding how a quantization rounds.
#include "backends/cuda/codegen/byte_rounding.h"

#include <cmath>

namespace tenfold::backends::cuda {
namespace {

using ir::Instr;
using ir::Prim;

struct Reader {
  const ir::Body& body;
  Instr at(int v) const {
    const int inputs = static_cast<int>(body.inputs.size());
    return v < inputs ? Instr{} : body.code[static_cast<std::size_t>(v - inputs)];
  }
  bool computes(int v, Prim prim) const { return v >= static_cast<int>(body.inputs.size()) && at(v).prim == prim; }
  bool is_constant(int v) const { return computes(v, Prim::constant); }
};

}  // namespace

std::optional<ByteRounding> byte_rounding(const ir::Body& body) {
  if (body.outputs.size() != 1) return {};
  const Reader read{body};
  int v = body.outputs[0];
  if (!read.computes(v, Prim::saturate)) return {};
  ByteRounding found;
  found.type = read.at(v).dtype, v = read.at(v).a;
  if ((found.type != DType::i8 && found.type != DType::u8) || body.type_of(v) != DType::f32) return {};
  if (const Instr sum = read.at(v); read.computes(v, Prim::add)) {
    const int rounded = read.is_constant(sum.a) ? sum.b : sum.a, zero = read.is_constant(sum.a) ? sum.a : sum.b;
    if (read.computes(rounded, Prim::round_even) && read.is_constant(zero)) {   // else it is part of what is rounded
      const double number = read.at(zero).imm;
      if (number != std::rint(number) || std::abs(number) > 255) return {};
      found.zero = static_cast<int>(number), v = rounded;
    }
  }
  if (read.computes(v, Prim::round_even)) v = read.at(v).a;
  if (const Instr scaled = read.at(v); read.computes(v, Prim::div) && read.is_constant(scaled.b)) {
    const double divisor = read.at(scaled.b).imm;
    if (!(divisor > 1e-30 && divisor < 1e30)) return {};
    found.factor = 1 / divisor, v = scaled.a;
  }
  found.value = static_cast<std::uint16_t>(v);
  return found;
}

ir::Body before_rounding(const ir::Body& body, const ByteRounding& rounding) {
  ir::Body before = body;
  before.outputs[0] = rounding.value;
  if (rounding.factor != 1) {
    const auto factor = static_cast<std::uint16_t>(before.value_count());
    before.code.push_back({.prim = Prim::constant, .dtype = DType::f32, .imm = rounding.factor});
    before.code.push_back({.prim = Prim::mul, .dtype = DType::f32, .a = rounding.value, .b = factor});
    before.outputs[0] = static_cast<std::uint16_t>(factor + 1);
  }
  return ir::simplify(before);
}

}  // namespace tenfold::backends::cuda
