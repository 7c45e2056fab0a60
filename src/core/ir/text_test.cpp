// Dims, types, bodies and graphs survive a round trip through their text form.
#include "ir/text.h"

#include <gtest/gtest.h>

#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

TEST(Dim, NormalFormMakesEqualExpressionsIdentical) {
  const Dim b = Dim::symbol("batch"), s = Dim::symbol("sequence");
  EXPECT_EQ((b + s) * Dim(2), Dim(2) * s + b + b);
  EXPECT_EQ(floor_div(b * s * Dim(12), s * Dim(4)), b * Dim(3));
  EXPECT_EQ((b + s) - s, b);
  EXPECT_NE(b, s);
  EXPECT_EQ(Dim::parse("2*batch*sequence + 1").text(), (Dim(2) * b * s + Dim(1)).text());
  EXPECT_EQ(Dim::parse(floor_div(b - Dim(1), Dim(2)).text()), floor_div(b - Dim(1), Dim(2)));
}

TEST(Dim, BoundsEncloseEveryValue) {
  const Dim b = Dim::symbol("b"), s = Dim::symbol("s");
  const SymbolBounds box{{"b", {1, 8}}, {"s", {3, 128}}};
  const Dim expressions[] = {
      b * s - Dim(3), floor_div(s + Dim(5), Dim(4)), ceil_div(s, b), mod(s, Dim(7)), max(b, s) - min(b, s), less(b, s), equal(b, s)};
  for (Dim e : expressions) {
    const Interval i = e.bounds(box);
    for (std::int64_t x = 1; x <= 8; ++x)
      for (std::int64_t y = 3; y <= 128; ++y) {
        const std::int64_t v = e.evaluate({{"b", x}, {"s", y}});
        EXPECT_TRUE(v >= i.lower && v <= i.upper) << e.text() << " at " << x << ", " << y;
      }
  }
}

TEST(Dim, ErrorsInsteadOfOverflow) {
  const Dim huge = Dim(std::int64_t{1} << 40) * Dim::symbol("b");
  EXPECT_THROW((huge * huge).evaluate({{"b", 4}}), Error);
  EXPECT_THROW(Dim::parse("batch +"), Error);
  EXPECT_THROW(Dim::parse(std::string(10000, '(')), Error);
  EXPECT_THROW(Dim::symbol("b").evaluate({}), Error);
}

TEST(Type, RoundTrip) {
  for (const char* t : {"f32[batch,128,2*sequence + 1]", "i64[]", "seq(f16[3])", "opt(bool[?])", "u4[7]"})
    EXPECT_EQ(text(parse_type(t)), t);
  EXPECT_THROW(parse_type("f31[2]"), Error);
  EXPECT_THROW(parse_type("f32[2"), Error);
}

TEST(Type, ExtentsAreNotNegative) {
  for (const char* text : {"i64[1 - 9223372036854775807]", "f32[2,-3]", "f32[n,2 - 3]"}) EXPECT_THROW(parse_type(text), Error) << text;
  EXPECT_NO_THROW(parse_type("f32[n - 3,0]"));   // a run says what n is
}

TEST(Body, RoundTripAndSimplify) {
  BodyBuilder b({DType::f32, DType::f32});
  const auto zero = b.constant(DType::f32, 0), sum = b.binary(Prim::add, 0, 1), again = b.binary(Prim::add, 0, 1);
  b.unary(Prim::exp, sum);
  Body body = b.finish({b.binary(Prim::max, again, zero)});
  EXPECT_EQ(parse_body(text(body)), body);
  EXPECT_EQ(text(simplify(body)), "(f32,f32) %2=constant.f32(0) %3=add.f32(%0,%1) %4=max.f32(%3,%2) -> %4");
  EXPECT_THROW(parse_body("(f32) %1=add.f32(%0,%1) -> %1"), Error);
  EXPECT_THROW(parse_body("(f32) %1=nothing.f32(%0) -> %1"), Error);
}

// Plans hold bodies as text, too: what is wrong with one is not a contradiction of ours.
TEST(Body, MalformedTextIsTheWritersFault) {
  for (const char* text : {"(f32) ->", "(f32) ->%1", "(f32) %1=abs.f32(%2) ->%1", "(f32,f64) %2=add.f32(%0,%1) ->%2",
                           "(f32) %1=select.f32(%0,%0,%0) ->%1"}) {
    try {
      parse_body(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_model) << text << ": " << e.what();
    }
  }
}

TEST(Body, ComposeLinksValues) {
  BodyBuilder first({DType::f32, DType::f32});
  const Body sum = first.finish({first.binary(Prim::add, 0, 1)});
  BodyBuilder second({DType::f32, DType::f32});
  const Body product = second.finish({second.binary(Prim::mul, 0, 1)});
  const Body both = compose(sum, product, {2, -1});   // value 2 is the sum; the second operand is a new input
  EXPECT_EQ(text(both), "(f32,f32,f32) %3=add.f32(%0,%1) %4=mul.f32(%3,%2) -> %4");
}

TEST(Attributes, TypedAccess) {
  Attributes a{{"axis", std::int64_t{1}}, {"scales", Floats{0.5f, 2.0f}}, {"mode", std::string("linear")}};
  EXPECT_EQ(text(a), "axis=1 mode=\"linear\" scales=[0.5,2.0]");
  EXPECT_THROW(a.number("axis"), Error);
  for (const auto& [key, value] : a) EXPECT_TRUE(equal(parse_attribute(text(value)), value));
}

}  // namespace
}  // namespace tenfold::ir
