// Printing instructions of a Body.
#include "backends/cuda/codegen/body_text.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "backends/cuda/codegen/gelu.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

using ir::Instr;
using ir::Prim;

std::string hex(std::uint64_t bits) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

std::string literal(DType dtype, double value) {
  if (dtype == DType::f64) return cat("__longlong_as_double(", hex(std::bit_cast<std::uint64_t>(value)), "ll)");
  if (is_float(dtype)) {  // of f16: what the type can hold
    const std::string single = cat("__int_as_float((int)", hex(std::bit_cast<std::uint32_t>(static_cast<float>(value))), "u)");
    return dtype == DType::f32 ? single : loaded(dtype, stored(dtype, single));
  }
  if (dtype == DType::boolean) return value != 0 ? "true" : "false";
  const std::uint64_t bits = value < 0         ? static_cast<std::uint64_t>(static_cast<std::int64_t>(std::max(value, -0x1p63)))
                             : value >= 0x1p64 ? ~std::uint64_t{0}
                                               : static_cast<std::uint64_t>(value);
  return cat("(", compute_type(dtype), ")", hex(bits), "ull");
}

// The limits of an integer type, as doubles.
std::pair<double, double> limits(DType dtype) {
  if (dtype == DType::boolean) return {0, 1};
  const bool is_signed = dtype == DType::i64 || dtype == DType::i32 || dtype == DType::i16 || dtype == DType::i8;
  const int bits_of_value = bits(dtype) - is_signed;
  return {is_signed ? -std::ldexp(1.0, bits_of_value) : 0, std::ldexp(1.0, bits_of_value) - (bits_of_value < 53 ? 1 : 0)};
}

const char* float_function(Prim prim) {
  switch (prim) {
    case Prim::abs: return "fabs";
    case Prim::sign: return "sign_of";
    case Prim::sqrt: return "sqrt";
    case Prim::exp: return "exp";
    case Prim::log: return "log";
    case Prim::erf: return "erf";
    case Prim::tanh: return "tanh";
    case Prim::sigmoid: return "sigmoid";
    case Prim::floor: return "floor";
    case Prim::ceil: return "ceil";
    case Prim::round_even: return "rint";
    case Prim::sin: return "sin";
    case Prim::cos: return "cos";
    case Prim::tan: return "tan";
    case Prim::asin: return "asin";
    case Prim::acos: return "acos";
    case Prim::atan: return "atan";
    case Prim::sinh: return "sinh";
    case Prim::cosh: return "cosh";
    case Prim::asinh: return "asinh";
    case Prim::acosh: return "acosh";
    case Prim::atanh: return "atanh";
    case Prim::pow: return "pow";
    case Prim::min: return "min_nan";
    case Prim::max: return "max_nan";
    case Prim::mod: return "floor_mod";
    case Prim::fmod: return "fmod";
    default: return nullptr;
  }
}

const char* whole_function(Prim prim) {
  switch (prim) {
    case Prim::div: return "whole_div";
    case Prim::mod: return "whole_mod";
    case Prim::fmod: return "whole_rem";
    case Prim::pow: return "whole_pow";
    case Prim::shift_left: return "shift_left";
    case Prim::shift_right: return "shift_right";
    default: return nullptr;
  }
}

const char* infix(Prim prim) {
  switch (prim) {
    case Prim::add: return "+";
    case Prim::sub: return "-";
    case Prim::mul: return "*";
    case Prim::div: return "/";
    case Prim::bit_and: return "&";
    case Prim::bit_or: return "|";
    case Prim::bit_xor: return "^";
    case Prim::eq: return "==";
    case Prim::ne: return "!=";
    case Prim::lt: return "<";
    case Prim::le: return "<=";
    case Prim::gt: return ">";
    case Prim::ge: return ">=";
    case Prim::logical_and: return "&&";
    case Prim::logical_or: return "||";
    case Prim::logical_xor: return "!=";
    default: return nullptr;
  }
}

std::string cast_text(DType from, DType to, const std::string& a) {
  if (to == DType::boolean) return cat("(", a, ") != 0");
  if (to == DType::f16 || to == DType::bf16 || to == DType::f8e4m3fn) return loaded(to, stored(to, cat("(float)", a)));
  if (to == DType::f32 && (from == DType::u8 || from == DType::i8)) return cat("of_byte(", a, ")");
  if (is_float(from) && !is_float(to) && bits(to) < 64) return cat("(", compute_type(to), ")(i64)", a);  // wraps, as C++ does by way of i64
  return cat("(", compute_type(to), ")", a);
}

// The right side of one statement. `type` is the type of the first operand.
std::string expression(const Instr& i, DType type, const std::string& a, const std::string& b, const std::string& c) {
  const bool real = is_float(type);
  switch (i.prim) {
    case Prim::constant: return literal(i.dtype, i.imm);
    case Prim::cast: return cast_text(type, i.dtype, a);
    case Prim::saturate: {
      const auto [lower, upper] = limits(i.dtype);
      return cat("saturated<", compute_type(i.dtype), ">(", a, ", ", literal(DType::f64, lower), ", ", literal(DType::f64, upper), ")");
    }
    case Prim::neg: return real ? cat("-", a) : cat("0 - ", a);
    case Prim::rsqrt: return type == DType::f64 ? cat("1.0 / sqrt(", a, ")") : cat("1.0f / sqrtf(", a, ")");
    case Prim::reciprocal: return cat(type == DType::f64 ? "1.0 / " : "1.0f / ", a);
    case Prim::logical_not: return cat("!", a);
    case Prim::bit_not: return cat("~", a);
    case Prim::is_nan: return real ? cat(a, " != ", a) : "false";
    case Prim::is_inf: return real ? cat("isinf(", a, ")") : "false";
    case Prim::select: return cat(a, " ? ", b, " : ", c);
    case Prim::fma: return is_float(i.dtype) ? cat("fma(", a, ", ", b, ", ", c, ")") : cat(a, " * ", b, " + ", c);
    default: break;
  }
  if (!real) {
    if (i.prim == Prim::abs) return cat(a, " < 0 ? 0 - ", a, " : ", a);
    if (i.prim == Prim::sign) return cat("(", a, " > 0) - (", a, " < 0)");
    if (i.prim == Prim::floor || i.prim == Prim::ceil || i.prim == Prim::round_even) return a;
    if (i.prim == Prim::min) return cat(b, " < ", a, " ? ", b, " : ", a);
    if (i.prim == Prim::max) return cat(a, " < ", b, " ? ", b, " : ", a);
    if (const char* f = whole_function(i.prim)) return cat(f, "<", compute_type(type), ">(", a, ", ", b, ")");
  }
  if (i.prim == Prim::erf && (type == DType::f16 || type == DType::bf16)) return cat("erf_half(", a, ")");
  if (const char* f = float_function(i.prim)) return ir::arity(i.prim) == 1 ? cat(f, "(", a, ")") : cat(f, "(", a, ", ", b, ")");
  return cat(a, " ", infix(i.prim), " ", b);
}

// Is `value` only read by what `rounds` accepts?
template <class Rounds>
bool only_read_by(const ir::Body& body, std::uint16_t value, Rounds rounds) {
  if (std::find(body.outputs.begin(), body.outputs.end(), value) != body.outputs.end()) return false;
  return std::all_of(body.code.begin(), body.code.end(), [&](const Instr& i) {
    const int n = ir::arity(i.prim);
    if ((n < 1 || i.a != value) && (n < 2 || i.b != value) && (n < 3 || i.c != value)) return true;
    return rounds(i);
  });
}
// To whole numbers or to 8 bits, as a quantization does.
bool rounds(const Instr& i) {
  return i.prim == Prim::round_even || i.prim == Prim::saturate || (i.prim == Prim::cast && bits(i.dtype) == 8);
}

// Does instruction `k` round what is rounded again at once, or, in a wide body, to 16 bits?
bool rounds_in_vain(const ir::Body& body, std::size_t k, bool wide) {
  const Instr& i = body.code[k];
  const auto saturates = [](const Instr& next) { return next.prim == Prim::saturate; };
  if (i.prim == Prim::round_even && body.type_of(i.a) == DType::f32)
    return only_read_by(body, static_cast<std::uint16_t>(body.inputs.size() + k), saturates);
  return wide && i.prim == Prim::cast && (i.dtype == DType::f16 || i.dtype == DType::bf16) && body.type_of(i.a) == DType::f32;
}

// Is instruction `k` a division by a constant that may as well be a product in f32, because its result has few bits? A division costs an
// epilogue as much as ten products.
bool quick_reciprocal(const ir::Body& body, std::size_t k) {
  const Instr& i = body.code[k];
  if (i.prim != Prim::div || i.b < body.inputs.size()) return false;
  const Instr& divisor = body.code[i.b - body.inputs.size()];
  if (divisor.prim != Prim::constant || !(std::abs(divisor.imm) > 1e-30 && std::abs(divisor.imm) < 1e30)) return false;
  const DType type = body.type_of(i.a);
  return type == DType::f16 || type == DType::bf16 ||
         (type == DType::f32 && only_read_by(body, static_cast<std::uint16_t>(body.inputs.size() + k), rounds));
}

}  // namespace

Verdict can_print(const ir::Body& body) {
  for (DType t : body.inputs)
    if (!has_c_type(t)) return Verdict::no(cat("an operand is ", name(t)));
  for (const Instr& i : body.code) {
    if (!has_c_type(i.dtype)) return Verdict::no(cat("a value is ", name(i.dtype)));
    if (ir::is_reduction(i.prim)) return Verdict::no("the body reduces");
  }
  return Verdict::ok();
}

std::string print_body(const ir::Body& body, const std::vector<std::string>& inputs, const std::string& name, const std::string& indent,
                       std::vector<std::string>& outputs, bool wide) {
  std::string out;
  const auto value = [&](int v) {
    const auto at = static_cast<std::size_t>(v);
    return at < inputs.size() ? inputs[at] : cat(name, v);
  };
  for (std::size_t k = 0; k < body.code.size(); ++k) {
    const Instr& i = body.code[k];
    const std::string a = ir::arity(i.prim) > 0 ? value(i.a) : "", b = ir::arity(i.prim) > 1 ? value(i.b) : "",
                      c = ir::arity(i.prim) > 2 ? value(i.c) : "";
    const DType type = ir::arity(i.prim) > 0 ? body.type_of(i.a) : i.dtype;
    if (const int x = gelu_operand(body, k); x >= 0) {   // what led here is dead now
      out += cat(indent, "const float ", name, inputs.size() + k, " = gelu_half(", value(x), ");\n");
      continue;
    }
    out += cat(indent, "const ", compute_type(i.dtype), " ", name, inputs.size() + k, " = (", compute_type(i.dtype), ")(",
               rounds_in_vain(body, k, wide) ? a
               : quick_reciprocal(body, k)   ? cat(a, " * ", literal(DType::f32, 1 / body.code[i.b - inputs.size()].imm))
                                             : expression(i, type, a, b, c),
               ");\n");
  }
  outputs.clear();
  for (std::uint16_t v : body.outputs) outputs.push_back(value(v));
  return out;
}

}  // namespace tenfold::backends::cuda
