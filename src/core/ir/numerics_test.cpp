// What a node may round survives its text form, and the order of formats.
#include "ir/numerics.h"

#include <gtest/gtest.h>

#include "ir/scan.h"
#include "ir/text.h"

namespace tenfold::ir {
namespace {

Numerics parsed(const std::string& text) {
  Scanner in(text);
  const Numerics numerics = parse_numerics(in);
  in.expect_end();
  return numerics;
}

TEST(Numerics, AllowsTheFormatItselfAndWhatIsFiner) {
  EXPECT_FALSE(Numerics{}.allows(Rounding::tf32));
  for (const Rounding to : {Rounding::tf32, Rounding::f16, Rounding::bf16}) {
    const Numerics n{.round_to = to};
    EXPECT_TRUE(n.allows(Rounding::none) && n.allows(Rounding::tf32) && n.allows(to)) << name(to);
    EXPECT_EQ(n.allows(Rounding::bf16), to == Rounding::bf16) << "f16 has more bits, bf16 more range";
    EXPECT_EQ(n.allows(Rounding::f16), to == Rounding::f16) << name(to);
  }
}

TEST(Numerics, TextRoundTrip) {
  EXPECT_EQ(text(Numerics{}), "");
  EXPECT_EQ(text({.winograd = true, .fast_exp = true}), "winograd=1,fast_exp=1") << "nothing is allowed unless it is given";
  Scanner less("{winograd=0}");
  EXPECT_EQ(parse_numerics(less, {.winograd = true, .strassen = true}), (Numerics{.strassen = true})) << "what is not named stays";
  for (int flags = 0; flags < 8; ++flags)
    for (int to = 0; to < static_cast<int>(Rounding::count_); ++to) {
      const Numerics n{static_cast<Rounding>(to), (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0};
      EXPECT_EQ(parsed("{" + text(n) + "}"), n) << text(n);
    }
  for (const char* bad : {"{round_to=f64}", "{round_to}", "{winograd=2}", "{precision=bf16}", "{", "round_to=bf16"})
    EXPECT_THROW(parsed(bad), Error) << bad;
}

}  // namespace
}  // namespace tenfold::ir
