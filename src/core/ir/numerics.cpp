// The text form of Numerics.
#include "ir/numerics.h"

#include <array>

#include "ir/scan.h"

namespace tenfold::ir {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Rounding::count_)> kRoundings{"none", "tf32", "f16", "bf16"};

struct Flag {
  std::string_view name;
  bool Numerics::*field;
};
constexpr Flag kFlags[] = {{"winograd", &Numerics::winograd}, {"strassen", &Numerics::strassen}, {"fast_exp", &Numerics::fast_exp},
                            {"exact", &Numerics::exact}};

Rounding parse_rounding(Scanner& in) {
  const std::string word = in.name();
  for (std::size_t i = 0; i < kRoundings.size(); ++i)
    if (word == kRoundings[i]) return static_cast<Rounding>(i);
  in.bad("f32 cannot be rounded to '" + word + "': none, tf32, f16 or bf16 expected");
}

void parse_flag(Scanner& in, const std::string& word, Numerics& numerics) {
  for (const Flag& flag : kFlags) {
    if (word != flag.name) continue;
    const std::int64_t value = in.integer();
    if (value != 0 && value != 1) in.bad("'" + word + "' is 0 or 1");
    numerics.*flag.field = value == 1;
    return;
  }
  in.bad("unknown permission '" + word + "': expected one of round_to, winograd, strassen, fast_exp, exact, type");
}

DType parse_type_given(Scanner& in) {
  const std::string word = in.name();
  const std::optional<DType> type = dtype_from_name(word);
  if (!type) in.bad("there is no element type '" + word + "'");
  return *type;
}

}  // namespace

std::string_view name(Rounding rounding) { return kRoundings.at(static_cast<std::size_t>(rounding)); }

Rounding rounding_to(DType dtype) {
  return dtype == DType::f16 ? Rounding::f16 : dtype == DType::bf16 ? Rounding::bf16 : Rounding::none;
}

std::string text(const Numerics& numerics) {
  const Numerics standard;
  std::string out;
  if (numerics.round_to != standard.round_to) out += "round_to=" + std::string(name(numerics.round_to));
  for (const Flag& flag : kFlags)
    if (numerics.*flag.field != standard.*flag.field)
      out += (out.empty() ? "" : ",") + std::string(flag.name) + (numerics.*flag.field ? "=1" : "=0");
  if (numerics.type) out += (out.empty() ? "type=" : ",type=") + std::string(name(*numerics.type));
  return out;
}

std::string numerics_words(const Numerics& numerics) {
  const std::string words = text(numerics);
  return words.empty() ? words : " numerics={" + words + "}";
}

Numerics parse_numerics(Scanner& in, Numerics numerics) {
  in.expect('{');
  while (!in.take('}')) {
    const std::string word = in.name();
    in.expect('=');
    if (word == "round_to") numerics.round_to = parse_rounding(in);
    else if (word == "type") numerics.type = parse_type_given(in);
    else parse_flag(in, word, numerics);
    in.take(',');
  }
  return numerics;
}

}  // namespace tenfold::ir
