// GridSample: reads an image of any number of dims at the places that a grid names, each coordinate in [-1, 1] along its dim.
//
// Operands: X [batch, channels, extents...], grid [batch, places..., dims]; a place names its last dim first.
#include "ops/dim_rules.h"
#include "ops/real_access.h"
#include "ops/resize/grid_sample.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const std::string &mode = call.attributes().string("mode"), &padding = call.attributes().string("padding_mode");
  call.validate(mode == "linear" || mode == "nearest" || mode == "cubic", "mode is '", mode, "', linear, nearest or cubic expected");
  call.validate(padding == "zeros" || padding == "border" || padding == "reflection", "padding_mode is '", padding,
             "', zeros, border or reflection expected");
  const int rank = call.rank(0);
  call.check_shape(rank >= 3 && call.rank(1) == rank, "data and grid have the ranks ", rank, " and ", call.rank(1),
            ", the same from 3 on expected");
  const Dims &data = call.dims(0), &grid = call.dims(1);
  call.check_shape(!grid.back().is_constant() || grid.back() == Dim(rank - 2), "the grid has ", grid.back().text(),
            " coordinates for each place, ", rank - 2, " expected");
  for (std::size_t d = 2; d < data.size(); ++d)
    call.check_shape(data[d] != Dim(0), "data of shape [", text(data), "] have nothing to sample");
  Dims dims{ops::same_extent(call, data[0], grid[0], "batch"), data[1]};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  call.out(0, call.dtype(0), std::move(dims));
}

// One element of the result: the sum over the taps of all dims.
template <class T>
double sampled(const T* plane, const std::vector<ops::Taps>& taps, const Shape& strides, std::size_t d) {
  double sum = 0;
  for (int i = 0; i < taps[d].count; ++i) {
    const T* from = plane + taps[d].at[i] * strides[d];
    if (taps[d].weight[i] != 0)
      sum += taps[d].weight[i] * (d + 1 == taps.size() ? static_cast<double>(*from) : sampled(from, taps, strides, d + 1));
  }
  return sum;
}

// X holds the elements, T the coordinates.
template <class X, class T>
void run(Call& call) {
  const ops::Sampling sampling(call.attributes());
  const Shape &data = call.in[0].shape, &out = call.out[0].shape;
  const Shape extents(data.begin() + 2, data.end()), strides = ops::row_major_strides(extents);
  call.check_shape(call.in[1].shape[0] == data[0] && call.in[1].shape.back() == static_cast<std::int64_t>(extents.size()),
                   "a grid of shape ", text(call.in[1].shape), " does not fit data of shape ", text(data));
  const std::int64_t plane = element_count(extents), places = element_count({out.begin() + 2, out.end()});
  call.check_shape(plane > 0 || call.out[0].size() == 0, "there is nothing to sample");
  const ops::RealIn<T> grid(call.in[1]);
  const ops::RealIn<X> x(call.in[0]);
  const ops::RealOut<X> y(call.out[0]);
  std::vector<ops::Taps> taps(extents.size());
  for (std::int64_t n = 0; n < out[0]; ++n) {
    for (std::int64_t p = 0; p < places; ++p) {
      const T* place = grid.data() + (n * places + p) * static_cast<std::int64_t>(extents.size());
      for (std::size_t d = 0; d < extents.size(); ++d) taps[d] = ops::taps_at<T>(sampling, place[extents.size() - 1 - d], extents[d]);
      for (std::int64_t c = 0; c < out[1]; ++c)
        y[(n * out[1] + c) * places + p] = static_cast<X>(sampled(x.data() + (n * out[1] + c) * plane, taps, strides, 0));
    }
  }
}

void reference(Call& call) {
  if (!is_float(call.in[0].dtype)) {
    ops::exactly_converted(call, 0);   // refuses what a double does not hold
    return run<double, float>(call);
  }
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T, T>(call); });
}

}  // namespace

OpDef op_grid_sample() {
  return {.name = "GridSample",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, float -> T; T: dense",
          .attributes = {{"mode", "linear"}, {"padding_mode", "zeros"}, {"align_corners", 0}},
          .infer = infer,
          .reference = reference,
          .cases = {"f32[2,3,5,7] f32[2,4,6,2](-1.2,1.2)", "f32[1,2,5,4] f32[1,3,3,2](-2,2) mode=\"nearest\" padding_mode=\"border\"",
                    "f32[1,2,5,4] f32[1,3,3,2](-3,3) mode=\"cubic\" padding_mode=\"reflection\" align_corners=1",
                    "f32[1,2,3,4,5] f32[1,2,2,3,3](-1.1,1.1)", "f16[1,1,4,4] f16[1,2,2,2]", "f32[2,1,9] f32[2,5,1] padding_mode=\"border\"",
                    "f32[1,2,3,3] f32[1,0,4,2]"},
          .on_host = "there is no kernel yet"};
}

}  // namespace tenfold::ir
