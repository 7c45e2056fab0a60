// Drawing the sweep's problems: sizes log-uniform, work and memory bounded so that all of them take some minutes.
#include "sweep_problem.h"

#include <algorithm>
#include <cmath>

namespace sweep {
namespace {

constexpr std::uint64_t kSeed = 2026;
constexpr double kMaxFlops = 0.5e9, kMaxElements = 4e6;

// splitmix64: the same numbers everywhere, which the standard's distributions do not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x2545f4914f6cdd1dull) {}
  double uniform() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  std::int64_t from(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(uniform() * static_cast<double>(high - low + 1));
  }
  std::int64_t log_from(std::int64_t low, std::int64_t high) {
    const double a = std::log(static_cast<double>(low)), b = std::log(static_cast<double>(high + 1));
    return std::clamp(static_cast<std::int64_t>(std::exp(a + uniform() * (b - a))), low, high);
  }
  bool chance(double p) { return uniform() < p; }

 private:
  std::uint64_t state_;
};

Problem draw_product(Random& random) {
  Problem p;
  const double form = random.uniform();
  const std::int64_t k = random.log_from(1, 4096), n = random.log_from(1, 4096);
  if (form < 0.25)
    p.x = {random.from(1, 8), k};
  else if (form < 0.35)
    p.x = {random.from(1, 3), 77, k};  // text
  else if (form < 0.5)
    p.x = {3, random.log_from(1, 170), k};
  else
    p.x = {random.log_from(1, 512), k};
  p.transposed = random.chance(0.3);
  p.w = p.transposed ? Shape{n, k} : Shape{k, n};
  p.y = p.x;
  p.y.back() = n;
  return p;
}

// Channels of both sides for a random kind of grouping.
void draw_channels(Problem& p, Random& random, std::int64_t& in, std::int64_t& out) {
  const double form = random.uniform();
  if (form < 0.15) {
    p.groups = in = random.log_from(2, 512);
    out = in * (random.chance(0.8) ? 1 : 2);
  } else if (form < 0.3) {
    p.groups = random.from(2, 8);
    in = p.groups * random.log_from(1, 64), out = p.groups * random.log_from(1, 64);
  } else {
    in = random.log_from(1, 512), out = random.log_from(1, 512);
  }
}

Problem draw_convolution(Random& random) {
  Problem p;
  p.kind = Kind::convolution;
  const double form = random.uniform();
  const int rank = form < 0.2 ? 1 : form < 0.8 ? 2 : 3;
  const std::int64_t longest[] = {0, 2048, 112, 32};
  std::int64_t in, out;
  draw_channels(p, random, in, out);
  p.x = {random.from(1, 3)}, p.w = {out, in / p.groups}, p.y = p.x;
  const std::int64_t side = random.log_from(4, longest[rank]), kernel = random.chance(0.3) ? 1 : random.from(2, 7);
  const bool even = random.chance(0.7);  // most kernels and images are as wide as high
  for (int i = 0; i < rank; ++i) {
    const std::int64_t extent = even ? side : random.log_from(4, longest[rank]), taps = even ? kernel : random.from(1, 7);
    const std::int64_t dilation = random.chance(0.15) ? random.from(2, 3) : 1, stride = random.chance(0.3) ? random.from(2, 3) : 1;
    const std::int64_t reach = (taps - 1) * dilation + 1, pad = random.chance(0.8) ? reach / 2 : 0;
    p.x.push_back(extent), p.w.push_back(taps), p.y.push_back((extent + 2 * pad - reach) / stride + 1);
    if (extent + 2 * pad < reach) p.y.back() = 0;
    p.strides.push_back(stride), p.pads.push_back(pad), p.dilations.push_back(dilation);
  }
  p.x.push_back(in), p.y.push_back(out);
  return p;
}

double elements(const Shape& shape) {
  double n = 1;
  for (std::int64_t d : shape) n *= static_cast<double>(d);
  return n;
}

std::string joined(const Shape& shape) { return tenfold::text(shape); }
bool plain(const Shape& values, std::int64_t value) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == value; });
}

}  // namespace

double Problem::flops() const {
  return 2 * elements(y) * (kind == Kind::product ? static_cast<double>(x.back()) : elements(w) / static_cast<double>(w[0]));
}

std::string Problem::text() const {
  std::string out = kind == Kind::product ? joined(x) + " * " + joined(w) + (transposed ? "^T" : "") : joined(x) + ", kernel " + joined(w);
  if (kind == Kind::convolution) {
    if (!plain(pads, 0)) out += ", pads " + joined(pads);
    if (!plain(strides, 1)) out += ", strides " + joined(strides);
    if (!plain(dilations, 1)) out += ", dilations " + joined(dilations);
    if (groups > 1) out += ", groups " + std::to_string(groups);
  }
  if (bias) out += ", bias";
  if (after != After::nothing) out += after == After::relu ? ", relu" : ", gelu";
  return out;
}

Problem draw(Kind kind, int index) {
  Random random(kSeed + static_cast<std::uint64_t>(kind == Kind::product ? index : 1'000'000 + index));
  for (;;) {
    Problem p = kind == Kind::product ? draw_product(random) : draw_convolution(random);
    p.bias = random.chance(0.6);
    p.after = random.chance(0.3) ? After::relu : random.chance(0.15) ? After::gelu : After::nothing;
    const double largest = std::max({elements(p.x), elements(p.y), elements(p.w)});
    if (p.flops() > 0 && p.flops() <= kMaxFlops && largest <= kMaxElements) return p;
  }
}

tenfold::Tensor random_values(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  tenfold::Tensor t(tenfold::DType::f32, shape);
  float* values = t.mutable_data<float>();
  for (std::int64_t i = 0; i < t.size(); ++i) values[i] = static_cast<float>(2 * random.uniform() - 1);
  return t;
}

}  // namespace sweep
