// GridSample: reads an image of any number of dims at the places that a grid names, each coordinate in [-1, 1] along its dim.
//
// Operands: X [batch, channels, extents...], grid [batch, places..., dims]; a place names its last dim first.
#include <cmath>

#include "ops/dim_rules.h"
#include "ops/onnx_node.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const std::string &mode = call.attributes().string("mode"), &padding = call.attributes().string("padding_mode");
  require_sound(mode == "linear" || mode == "nearest" || mode == "cubic", "mode is '", mode, "', linear, nearest or cubic expected");
  require_sound(padding == "zeros" || padding == "border" || padding == "reflection", "padding_mode is '", padding,
                "', zeros, border or reflection expected");
  const int rank = call.rank(0);
  call.need(rank >= 3 && call.rank(1) == rank, "data and grid have the ranks ", rank, " and ", call.rank(1),
            ", the same from 3 on expected");
  const Dims &data = call.dims(0), &grid = call.dims(1);
  call.need(!grid.back().is_constant() || grid.back() == Dim(rank - 2), "the grid has ", grid.back().text(),
            " coordinates for each place, ", rank - 2, " expected");
  Dims dims{ops::same_extent(call, data[0], grid[0], "batch"), data[1]};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  call.out(0, call.dtype(0), std::move(dims));
}

struct Sampling {
  enum class Mode { nearest, linear, cubic } mode;
  enum class Padding { zeros, border, reflection } padding;
  bool corners;   // -1 and 1 are the middles of the outermost elements, not their outer edges
  explicit Sampling(const Attributes& a)
      : mode(a.string("mode") == "nearest" ? Mode::nearest : a.string("mode") == "cubic" ? Mode::cubic : Mode::linear),
        padding(a.string("padding_mode") == "zeros" ? Padding::zeros : a.string("padding_mode") == "border" ? Padding::border
                                                                                                            : Padding::reflection),
        corners(a.integer("align_corners") != 0) {}
};

// Thrown back from both borders until it lies between them.
template <class T>
T reflected(T at, T low, T high) {
  const T range = high - low;
  if (range <= 0) return low;
  const T away = at < low ? low - at : at > high ? at - high : 0;
  if (away == 0) return at;
  const T turns = std::floor(away / range), rest = away - turns * range;
  const bool from_low = (at < low) == (std::fmod(turns, T(2)) == 0);
  return from_low ? low + rest : high - rest;
}

// Along one dim: which elements a place reads, and their weights. Weight 0 stands for what lies outside and counts as zero.
struct Taps {
  int count = 0;
  std::int64_t at[4] = {};
  double weight[4] = {};
};

double cubic_weight(double distance) {
  constexpr double a = -0.75;
  const double x = std::fabs(distance);
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

template <class T>
Taps taps_at(const Sampling& s, T place, std::int64_t extent) {
  const T size = static_cast<T>(extent), low = s.corners ? T(0) : T(-0.5), high = s.corners ? size - 1 : size - T(0.5);
  T x = s.corners ? (place + 1) / 2 * (size - 1) : ((place + 1) * size - 1) / 2;
  if (s.mode == Sampling::Mode::nearest) x = std::nearbyint(x);
  const bool cubic = s.mode == Sampling::Mode::cubic;   // brings each element that it reads back to the border, not the place
  if (s.padding == Sampling::Padding::border && !cubic && !std::isnan(x)) x = std::min(std::max(x, T(0)), size - 1);
  if (s.padding == Sampling::Padding::border && cubic && !std::isnan(x)) x = std::min(std::max(x, T(-3)), size + 2);
  if (s.padding == Sampling::Padding::reflection && std::isfinite(x)) x = reflected(x, low, high);
  const int count = s.mode == Sampling::Mode::nearest ? 1 : s.mode == Sampling::Mode::linear ? 2 : 4;
  if (std::isnan(x)) return {.count = 1, .at = {0}, .weight = {static_cast<double>(x)}};
  if (!(x > -4 && x < size + 4)) return {};   // before it is rounded to an integer that could not hold it
  const auto first = static_cast<std::int64_t>(std::floor(x)) - (count == 4);
  Taps taps{.count = count};
  for (int i = 0; i < count; ++i) {
    const double distance = std::fabs(static_cast<double>(x) - static_cast<double>(first + i));
    taps.weight[i] = count == 1 ? 1 : count == 2 ? 1 - distance : cubic_weight(distance);
    taps.at[i] = first + i;
    if (s.padding == Sampling::Padding::reflection)
      taps.at[i] =
          static_cast<std::int64_t>(reflected(static_cast<double>(first + i), static_cast<double>(low), static_cast<double>(high)));
    if (s.padding == Sampling::Padding::zeros && (taps.at[i] < 0 || taps.at[i] >= extent)) taps.weight[i] = 0;
    taps.at[i] = std::min(std::max<std::int64_t>(taps.at[i], 0), extent - 1);
  }
  return taps;
}

// One element of the result: the sum over the taps of all dims.
template <class T>
double sampled(const T* plane, const std::vector<Taps>& taps, const Shape& strides, std::size_t d) {
  double sum = 0;
  for (int i = 0; i < taps[d].count; ++i) {
    const T* from = plane + taps[d].at[i] * strides[d];
    if (taps[d].weight[i] != 0)
      sum += taps[d].weight[i] * (d + 1 == taps.size() ? static_cast<double>(*from) : sampled(from, taps, strides, d + 1));
  }
  return sum;
}

template <class T>
void run(Call& call) {
  const Sampling sampling(call.attributes());
  const Shape &data = call.in[0].shape, &out = call.out[0].shape;
  const Shape extents(data.begin() + 2, data.end()), strides = ops::row_major_strides(extents);
  require(call.in[1].shape[0] == data[0] && call.in[1].shape.back() == static_cast<std::int64_t>(extents.size()),
          ErrorKind::invalid_argument, ops::describe(call), ": a grid of shape ", text(call.in[1].shape), " does not fit data of shape ",
          text(data));
  const std::int64_t plane = element_count(extents), places = element_count({out.begin() + 2, out.end()});
  require(plane > 0 || call.out[0].size() == 0, ErrorKind::invalid_argument, ops::describe(call), ": there is nothing to sample");
  const ops::RealIn<T> x(call.in[0]), grid(call.in[1]);
  const ops::RealOut<T> y(call.out[0]);
  std::vector<Taps> taps(extents.size());
  for (std::int64_t n = 0; n < out[0]; ++n) {
    for (std::int64_t p = 0; p < places; ++p) {
      const T* place = grid.data() + (n * places + p) * static_cast<std::int64_t>(extents.size());
      for (std::size_t d = 0; d < extents.size(); ++d) taps[d] = taps_at<T>(sampling, place[extents.size() - 1 - d], extents[d]);
      for (std::int64_t c = 0; c < out[1]; ++c)
        y[(n * out[1] + c) * places + p] = static_cast<T>(sampled(x.data() + (n * out[1] + c) * plane, taps, strides, 0));
    }
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

// Until opset 20 the modes were named after two dims.
std::vector<Value*> from_onnx_16(OnnxImport& call) {
  Attributes attributes = call.attributes;
  const std::string mode = attributes.string("mode", "bilinear");
  attributes.set("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  return call.add("GridSample", call.inputs, attributes);
}

}  // namespace

OpDef op_grid_sample() {
  return {.name = "GridSample",
          .min_inputs = 2,
          .max_inputs = 2,
          .attributes = {{"mode", "linear"}, {"padding_mode", "zeros"}, {"align_corners", 0}},
          .infer = infer,
          .reference = reference,
          .from_onnx = {{"GridSample", 16, from_onnx_16}, {"GridSample", 20}},
          .cases = {"f32[2,3,5,7] f32[2,4,6,2](-1.2,1.2)", "f32[1,2,5,4] f32[1,3,3,2](-2,2) mode=\"nearest\" padding_mode=\"border\"",
                    "f32[1,2,5,4] f32[1,3,3,2](-3,3) mode=\"cubic\" padding_mode=\"reflection\" align_corners=1",
                    "f32[1,2,3,4,5] f32[1,2,2,3,3](-1.1,1.1)", "f16[1,1,4,4] f16[1,2,2,2]", "f32[2,1,9] f32[2,5,1] padding_mode=\"border\"",
                    "f32[1,2,3,3] f32[1,0,4,2]"}};
}

}  // namespace tenfold::ir
