// min and max in their normal form, long expressions in their text form and in messages.
#include "ir/dim.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <random>
#include <thread>

#include "base/check.h"
#include "ir/brief.h"
#include "ir/dim_code.h"
#include "ir/dim_expr.h"

namespace tenfold::ir {
namespace {

TEST(DimExtremes, NestedOnesAreFlat) {
  const Dim a = Dim::symbol("a"), b = Dim::symbol("b"), c = Dim::symbol("c");
  EXPECT_EQ(max(max(a, b), a), max(a, b));
  EXPECT_EQ(max(max(a, b), max(b, c)), max(c, max(a, b)));
  EXPECT_EQ(min(min(a, Dim(3)), min(Dim(7), b)), min(Dim(3), min(a, b)));
  EXPECT_EQ(max(a, max(b, a + Dim(2))), max(a + Dim(2), b));
  EXPECT_EQ(max(a, min(b, a)), a);
  EXPECT_EQ(min(a, max(b, a)), a);
  EXPECT_NE(max(a, min(b, c)), a);
  EXPECT_EQ(max(max(c, a), b).text(), "max(a, b, c)");
  EXPECT_EQ(Dim::parse("max(c, max(b, a), b)"), max(max(c, a), b));
  EXPECT_EQ(Dim::parse("min(4, a, 2)").text(), "min(2, a)");
  EXPECT_THROW(Dim::parse("mod(a, b, c)"), Error);
  EXPECT_THROW(Dim::parse("max(a)"), Error);
}

// As residual blocks join the extents of several inputs, layer after layer.
TEST(DimExtremes, DoNotGrowWithDepth) {
  const Dim ids = Dim::symbol("ids_d1"), mask = Dim::symbol("mask_d1"), types = Dim::symbol("types_d1");
  Dim x = max(ids, types);
  for (int layer = 0; layer < 24; ++layer) x = broadcast(broadcast(broadcast(x, mask), x), max(x, ids));
  EXPECT_EQ(x.text(), "max(ids_d1, mask_d1, types_d1)");
}

// A random expression, and its value by plain arithmetic.
struct Grown { Dim dim; std::int64_t value; };
Grown grow(std::mt19937_64& random, const SymbolValues& point, int depth) {
  if (depth == 0 || random() % 5 == 0) {
    if (random() % 3 == 0) return {Dim(static_cast<std::int64_t>(random() % 9)), 0};
    const std::string name(1, static_cast<char>('a' + random() % 4));
    return {Dim::symbol(name), point.at(name)};
  }
  const Grown x = grow(random, point, depth - 1), y = grow(random, point, depth - 1);
  const std::int64_t p = x.dim.is_constant() ? x.dim.constant() : x.value, q = y.dim.is_constant() ? y.dim.constant() : y.value;
  switch (random() % 6) {
    case 0: return {x.dim + y.dim, p + q};
    case 1: return {x.dim - Dim(3), p - 3};
    default: return random() % 2 ? Grown{max(x.dim, y.dim), std::max(p, q)} : Grown{min(x.dim, y.dim), std::min(p, q)};
  }
}

TEST(DimExtremes, NormalFormKeepsTheValue) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 4000; ++i) {
    SymbolValues point;
    for (const char* name : {"a", "b", "c", "d"}) point[name] = static_cast<std::int64_t>(random() % 12);
    const Grown grown = grow(random, point, 5);
    if (grown.dim.is_constant()) continue;
    EXPECT_EQ(grown.dim.evaluate(point), grown.value) << grown.dim.text();
    EXPECT_EQ(Dim::parse(grown.dim.text()), grown.dim);
    const std::vector<std::string> symbols = grown.dim.symbols();
    std::vector<std::int64_t> values;
    for (const std::string& s : symbols) values.push_back(point.at(s));
    std::int64_t result = 0;
    ASSERT_TRUE(DimCode(std::span(&grown.dim, 1), symbols).evaluate(values, std::span(&result, 1)));
    EXPECT_EQ(result, grown.value);
    SymbolBounds box;
    for (const auto& [name, value] : point) box[name] = {value, value};
    EXPECT_LE(grown.dim.bounds(box).lower, grown.value);
    EXPECT_GE(grown.dim.bounds(box).upper, grown.value);
    std::map<std::string, Dim, std::less<>> constants;
    for (const auto& [name, value] : point) constants[name] = Dim(value);
    EXPECT_EQ(grown.dim.substitute(constants), Dim(grown.value));
  }
}

// Division rounded down, in more bits than it needs.
__int128 floor_of(__int128 a, __int128 b) {
  const __int128 q = a / b, r = a % b;
  return q - (r != 0 && (r < 0) != (b < 0));
}

TEST(DimArithmetic, OfTheLeastAndTheGreatestNumbersIsRightOrAnError) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min(), kGreatest = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> extremes{kMin, kMin + 1, -2, -1, 0, 1, 2, kGreatest - 1, kGreatest};
  const Dim x = Dim::symbol("x"), y = Dim::symbol("y");
  const Dim dims[] = {floor_div(x, y), ceil_div(x, y), mod(x, y), min(x, y), max(x, y), equal(x, y), less(x, y), x + y, x - y, x * y};
  constexpr std::size_t kCount = std::size(dims);
  const std::vector<std::string> symbols{"x", "y"};
  for (const std::int64_t a : extremes)
    for (const std::int64_t b : extremes) {
      const __int128 p = a, q = b, down = b == 0 ? 0 : floor_of(p, q), up = b == 0 ? 0 : -floor_of(-p, q);
      const __int128 expected[kCount] = {down, up, p - down * q, std::min(a, b), std::max(a, b), a == b, a < b, p + q, p - q, p * q};
      for (std::size_t k = 0; k < kCount; ++k) {
        SCOPED_TRACE(cat(dims[k].text(), " for ", a, " and ", b));
        const bool negates = dims[k] == x - y && b == kMin;   // it is x + -1*y
        const bool known = (k > 2 || b != 0) && expected[k] >= kMin && expected[k] <= kGreatest && !negates;
        std::int64_t compiled = 0;
        const bool compiles = DimCode(std::span(&dims[k], 1), symbols).evaluate(std::vector{a, b}, std::span(&compiled, 1));
        EXPECT_EQ(compiles, known);
        if (!known) {
          EXPECT_THROW(dims[k].evaluate({{"x", a}, {"y", b}}), Error);
          EXPECT_THROW(dims[k].substitute({{"x", Dim(a)}, {"y", Dim(b)}}), Error);
          continue;
        }
        EXPECT_TRUE(compiled == expected[k]) << compiled;
        EXPECT_EQ(dims[k].evaluate({{"x", a}, {"y", b}}), compiled);
        EXPECT_EQ(dims[k].substitute({{"x", Dim(a)}, {"y", Dim(b)}}), Dim(compiled));
      }
    }
}

TEST(DimArithmetic, ReadsTheLeastNumber) {
  const Dim min_value(std::numeric_limits<std::int64_t>::min()), x = Dim::symbol("x");
  for (const Dim& d : {min_value, min_value * x, x + min_value, x * x + min_value * x, Dim(std::numeric_limits<std::int64_t>::max()) * x})
    EXPECT_EQ(Dim::parse(d.text()), d) << d.text();
  EXPECT_THROW(Dim::parse("9223372036854775808"), Error);
  EXPECT_THROW(Dim::parse("x - 9223372036854775809"), Error);
  // As the numbers of a plan or a model may have it, with and without symbols.
  for (const char* text : {"ceil_div(-9223372036854775807 - 1, -1)", "floor_div(-9223372036854775808, -1)", "floor_div(5, 0)", "mod(5, 0)"})
    EXPECT_THROW(Dim::parse(text), Error) << text;
  EXPECT_EQ(Dim::parse("mod(-9223372036854775808, -1)"), Dim(0));
  EXPECT_EQ(floor_div(min_value * x, Dim(-1)).evaluate({{"x", 0}}), 0);
  EXPECT_THROW(floor_div(min_value * x, Dim(-1)).evaluate({{"x", 1}}), Error);
}

TEST(DimMessages, CutLongExpressions) {
  Dim sum(0);
  for (int i = 0; i < 200; ++i) sum = sum + Dim::symbol(cat("symbol", i)) * Dim(i + 1);
  ASSERT_GT(sum.text().size(), 1000u);
  EXPECT_LT(brief(sum).size(), 250u);
  EXPECT_EQ(brief(Dim::symbol("batch")), "batch");
  try {
    constants(std::span(&sum, 1));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_LT(std::string_view(e.what()).size(), 300u);
  }
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

// Each step doubles the text, or the factors, or the terms: the next one is refused before it is made.
TEST(DimSize, IsBounded) {
  const auto grow = [](const std::function<Dim(Dim)>& step) {
    Dim d = Dim::symbol("bounded_d");
    for (int i = 0; i < 64; ++i) {
      d = step(d);
      ASSERT_LE(d.text().size(), kMaxDimText);
      ASSERT_LE(d.text().size(), d.text_size());
    }
  };
  const Dim other = Dim::symbol("bounded_e");
  const std::function<Dim(Dim)> steps[] = {
      [](Dim d) { return floor_div(d, d + Dim(1)); },
      [](Dim d) { return mod(d + Dim(1), d); },
      [](Dim d) { return less(d, Dim(2) * d - Dim(5)); },
      [&](Dim d) { return max(d + other, floor_div(d, other)); },
      [](Dim d) { return d * d; },
      [&](Dim d) { return d * (d + other); }};
  for (const auto& step : steps) {
    const std::string why = refusal([&] { grow(step); });
    const bool says = why.find("16384 are the most") != std::string::npos || why.find("more than") != std::string::npos;
    EXPECT_TRUE(says) << why;
  }
  EXPECT_NE(refusal([] { Dim::symbol(std::string(kMaxDimText + 1, 'n')); }).find("16385 characters"), std::string::npos);
}

TEST(DimSize, ExpressionsDieWithTheirLastDim) {
  const std::size_t before = detail::interned();
  {
    const Dim a = Dim::symbol("dies_a"), b = Dim::symbol("dies_b");
    Dim held = floor_div(a * b + Dim(3), max(a, b - Dim(1)));
    EXPECT_GT(detail::interned(), before + 4);
    const Dims copies(100, held);
    Dim moved = std::move(held);
    held = Dim(4);
    EXPECT_EQ(copies[99], moved);
    EXPECT_EQ(floor_div(Dim(3) + b * a, max(b - Dim(1), a)), moved);   // found again while it lives
    EXPECT_EQ(Dim::parse(moved.text()), moved);
  }
  EXPECT_EQ(detail::interned(), before);
}

// Threads make, find and drop the same expressions at once: whatever two of them hold at a time is one object.
TEST(DimSize, ThreadsShareExpressions) {
  const std::size_t before = detail::interned();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&wrong, t] {
        std::mt19937_64 random(static_cast<unsigned>(t));
        Dims held(8);
        for (int i = 0; i < 20000; ++i) {
          const auto n = static_cast<std::int64_t>(random() % 3);
          const Dim shared = Dim::symbol("shared_x");
          const Dim one = floor_div(shared + Dim(n), Dim(7)), two = floor_div(Dim(n) + shared, Dim(7));
          wrong += !(one == two) || one.evaluate({{"shared_x", 20}}) != (20 + n) / 7;
          held[random() % held.size()] = one;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(detail::interned(), before);
}

}  // namespace
}  // namespace tenfold::ir
