// erf and GELU of results of two bytes, for every f16 operand: the kernels' arithmetic again on the host and, where there is a GPU, on it,
// against f64.
#include <cmath>
#include <limits>

#include "backends/cuda/backend.h"
#include "backends/cuda/kernels/lib/gelu_terms.h"
#include "backends/cuda/tactics/one_node_for_tests.h"
#include "backends/tactic_set.h"
#include "base/types/half.h"

namespace tenfold::backends {
namespace {

using testing::OneNode;

double erf_of(double x) { return std::erf(x); }
double gelu_of(double x) { return x * 0.5 * std::erfc(-x * M_SQRT1_2); }   // erfc: nothing cancels left of zero

// f16's last bit at a value.
double ulp(double value) { return std::ldexp(1.0, std::max(std::ilogb(value == 0 ? 1e-30 : value), -14) - 10); }

double rounded(double value) { return static_cast<double>(half_to_float(float_to_half(static_cast<float>(value)))); }

// How many ulp the worst of all finite operands is off, and which that is.
template <class Computed>
std::pair<double, double> worst(const Computed& computed, double (*exact)(double)) {
  std::pair<double, double> largest{0, 0};
  for (int bits = 0; bits < 65536; ++bits) {
    const float x = half_to_float(static_cast<std::uint16_t>(bits));
    if (!std::isfinite(x)) continue;
    const double expected = exact(static_cast<double>(x)), off = std::abs(computed(x) - expected) / ulp(expected);
    if (!(off <= largest.first)) largest = {off, static_cast<double>(x)};
  }
  return largest;
}

constexpr float kErf[] = {TENFOLD_ERF_0, TENFOLD_ERF_1, TENFOLD_ERF_2};
constexpr float kGeluTail[] = {TENFOLD_GELU_TAIL_0, TENFOLD_GELU_TAIL_1, TENFOLD_GELU_TAIL_2, TENFOLD_GELU_TAIL_3, TENFOLD_GELU_TAIL_4};

template <std::size_t N>
float polynomial(const float (&c)[N], float x) {
  float y = c[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) y = std::fma(y, x, c[i]);
  return y;
}

// tanh.approx.f32 and ex2.approx.ftz.f32 with an error of `part` of their value; PTX says 2^-11 and 2^-22 at most.
float erf_half(float x, double part) {
  const float t = std::fmin(x * x, TENFOLD_ERF_MOST);
  const double y = std::tanh(static_cast<double>(x * polynomial(kErf, t))) * (1 + part);
  return static_cast<float>(std::clamp(y, -1.0, 1.0));
}
float gelu_tail(float x, double part) {
  const float s = std::fmin(std::fabs(x) * (1 / TENFOLD_GELU_REACH), 1.f);
  return s * static_cast<float>(std::exp2(static_cast<double>(polynomial(kGeluTail, s))) * (1 + part));
}
float gelu_half(float x, double part) { return std::fma(x + std::fabs(x), 0.5f, -gelu_tail(x, part)); }
// put_gelu's, all in f16 but the tail.
double gelu_in_pair(float x, double part) {
  const double h = rounded(std::fabs(x) * 0.5), both = rounded(static_cast<double>(x) * 0.5 + h);
  return rounded(both - rounded(static_cast<double>(gelu_tail(x, part))));
}

// put_gelu's for results of 8 bits, every step of it in f16; PTX says that ex2.approx.f16x2 is off by 2^-9.9 at most.
double gelu_in_bytes(float v, double part) {
  const auto x = static_cast<double>(v);
  const double s = rounded(std::fmin(std::fabs(x) * rounded(1 / static_cast<double>(TENFOLD_GELU_REACH)), 1));
  double p = rounded(static_cast<double>(kGeluTail[4]));
  for (int i = 3; i >= 0; --i) p = rounded(p * s + rounded(static_cast<double>(kGeluTail[i])));
  const double tail = rounded(s * rounded(std::exp2(p) * (1 + part)));
  return rounded(rounded(x + std::fabs(x)) * 0.5 - tail);
}

// e4m3 rounds by up to a sixteenth, integers of 8 bits by half of one, of which there are 127.
TEST(CudaGelu, OfEightBitsIsOffByMuchLessThanTheirRounding) {
  for (const double part : {-0x1.12p-10, 0.0, 0x1.12p-10})
    for (int bits = 0; bits < 65536; ++bits) {
      const float x = half_to_float(static_cast<std::uint16_t>(bits));
      if (!std::isfinite(x) || x > 3e4f) continue;   // twice that overflows f16, and its bytes are the largest
      const double expected = gelu_of(static_cast<double>(x)), off = std::abs(gelu_in_bytes(x, part) - expected);
      ASSERT_LE(off, (x > 0 ? 0.003 : 0.0125) * std::abs(expected) + 2e-6) << "at " << x << ", ex2 off by " << part;
    }
}

TEST(CudaGelu, ErfIsWithinTwoUlpOfEveryHalf) {
  for (const double part : {-0x1p-11, 0.0, 0x1p-11}) {
    const auto [off, x] = worst([&](float v) { return rounded(static_cast<double>(erf_half(v, part))); }, erf_of);
    EXPECT_LE(off, 2) << "at " << x << ", tanh off by " << part;
  }
}
TEST(CudaGelu, GeluIsWithinTwoUlpOfEveryHalf) {
  for (const double part : {-0x1p-22, 0.0, 0x1p-22}) {
    const auto [off, x] = worst([&](float v) { return rounded(static_cast<double>(gelu_half(v, part))); }, gelu_of);
    EXPECT_LE(off, 2) << "at " << x;
    const auto [pair_off, pair_x] = worst([&](float v) { return gelu_in_pair(v, part); }, gelu_of);
    EXPECT_LE(pair_off, 2) << "in pairs, at " << pair_x;
  }
}
// The measure itself: what was there before, a tanh of f16's eleven bits that 1 is added to, is far off left of zero.
TEST(CudaGelu, SumsWithOneAreFarOffLeftOfZero) {
  const auto with_one = [](float v) {
    const auto x = static_cast<double>(v);
    return rounded(x / 2 * (1 + rounded(std::erf(x * M_SQRT1_2))));
  };
  EXPECT_GT(worst(with_one, gelu_of).first, 28);
}
TEST(CudaGelu, KeepsWhatIsNoNumberAndInfinity) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(gelu_half(std::nanf(""), 0)));
  EXPECT_EQ(gelu_half(infinity, 0), infinity);
  EXPECT_TRUE(std::isnan(gelu_half(-infinity, 0)));   // -inf * 0, as its parts give
}

Tensor all_halves(const Shape& shape) {
  Tensor x(DType::f16, shape);
  auto* to = static_cast<std::uint16_t*>(x.mutable_raw());
  for (int i = 0; i < 65536; ++i) to[i] = std::isfinite(half_to_float(static_cast<std::uint16_t>(i))) ? static_cast<std::uint16_t>(i) : 0;
  return x;
}

// Each tactic on all numbers there are: alone, and behind a product with the identity, which gives them as they are.
void expect_within_two_ulp(Backend& backend, const OneNode& one, const std::vector<Tensor>& operands, double (*exact)(double)) {
  int tactics = 0;
  for (const Tactic* tactic : TacticSet(backend).of(*one.graph.nodes().front()->def)) {
    testing::TacticRun run(*tactic, one.graph, 0);
    run.problem.device = &backend.info();
    if (tactic->formats) run.use(tactic->formats(run.problem).front());
    if (tactic->source != Source::native || !tactic->supports(run.problem)) continue;
    for (const Config& config : tactic->configs(run.problem)) {
      testing::OnStream stream(backend);
      const Tensor got = run.run(config, operands, stream)[0];
      double largest = 0, where = 0;
      for (std::int64_t i = 0; i < got.size(); ++i) {
        const double x = operands[0].as_double(i), expected = exact(x), off = std::abs(got.as_double(i) - expected) / ulp(expected);
        if (!(off <= largest)) largest = off, where = x;
      }
      EXPECT_LE(largest, 2) << tactic->name << " on " << run.problem.line() << ", at " << where;
    }
    ++tactics;
  }
  EXPECT_GT(tactics, 0);
}

TEST(CudaGelu, KernelsAgreeWithTheReference) {
  std::string lacks;
  if (cuda_devices(lacks).empty()) GTEST_SKIP() << "no GPU: " << lacks;
  const std::shared_ptr<Backend> backend = open_backend("cuda");
  const std::string gelu = "(f16) %1=constant.f16(0.70710678) %2=mul.f16(%0,%1) %3=erf.f16(%2) %4=constant.f16(1) %5=add.f16(%3,%4) "
                           "%6=mul.f16(%0,%5) %7=constant.f16(0.5) %8=mul.f16(%6,%7) -> %8";
  OneNode product("MatMul", "f16[1024,64] f16[64,64]!", gelu, {});
  Tensor& ones = product.operands[1];
  for (int i = 0; i < 64 * 64; ++i) static_cast<std::uint16_t*>(ones.mutable_raw())[i] = i / 64 == i % 64 ? 0x3c00 : 0;
  product.operands[0] = all_halves({1024, 64});
  expect_within_two_ulp(*backend, product, product.operands, gelu_of);
  const std::string erf = "(f16) %1=erf.f16(%0) -> %1";
  for (const auto& [name, body, exact] : {std::tuple{"GELU", gelu, &gelu_of}, {"erf", erf, &erf_of}}) {
    SCOPED_TRACE(name);
    const OneNode alone("Region", "f16[65536]", body, {});
    expect_within_two_ulp(*backend, alone, {all_halves({65536})}, exact);
  }
}

}  // namespace
}  // namespace tenfold::backends
