// RoiAlign: pools regions of images to one size, from samples between pixels. Operands: images, regions (x1, y1, x2, y2), and for each
// region the image that it lies in.
#include <cmath>

#include "ops/dim_rules.h"
#include "ops/pool/roi_place.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

// In each direction: of a bin, and of a region, whose samples lie in memory.
constexpr std::int64_t kMaxOfBin = 4096, kMaxOfRegion = std::int64_t{1} << 22;

void infer(InferCall& call) {
  const Attributes& a = call.attributes();
  const std::string &mode = a.string("mode"), &coordinates = a.string("coordinate_transformation_mode");
  call.validate(mode == "avg" || mode == "max", "mode is '", mode, "', avg or max expected");
  call.validate(coordinates == "half_pixel" || coordinates == "output_half_pixel", "coordinate_transformation_mode is '", coordinates,
             "', half_pixel or output_half_pixel expected");
  call.validate(a.integer("output_height") > 0 && a.integer("output_width") > 0 && a.integer("sampling_ratio") >= 0 &&
                 a.integer("sampling_ratio") <= kMaxOfBin,
             "output_height is ", a.integer("output_height"), ", output_width ", a.integer("output_width"), ", sampling_ratio ",
             a.integer("sampling_ratio"), ": positive extents and a ratio of 0 to ", kMaxOfBin, " expected");
  call.check_shape(call.rank(0) == 4 && call.rank(1) == 2 && call.rank(2) == 1, "images, regions and their images have the ranks ",
                   call.rank(0), ", ", call.rank(1), " and ", call.rank(2), ", expected 4, 2 and 1");
  call.check_shape(!call.dims(1)[1].is_constant() || call.dims(1)[1] == Dim(4), "regions have ", call.dims(1)[1].text(),
            " coordinates, 4 expected");
  call.out(0, call.dtype(0), {ops::same_extent(call, call.dims(1)[0], call.dims(2)[0], "regions"), call.dims(0)[1],
                              a.integer("output_height"), a.integer("output_width")});
}

// Samples of one region along one dim.
struct Line {
  std::int64_t samples;   // in each bin
  std::vector<ops::RoiPlace> all;

  // In the type of the data: the number of samples is rounded up, and must be what other engines count.
  template <class T>
  Line(const Call& call, T start, T end, std::int64_t bins, std::int64_t extent, bool shifted, std::int64_t ratio) {
    const T size = shifted ? end - start : std::max(end - start, T(1)), bin = size / static_cast<T>(bins);
    call.check_shape(std::isfinite(size) && std::isfinite(start) && (ratio > 0 || bin <= kMaxOfBin), "a region reaches from ", start,
                     " to ", end, " in an image of ", extent);
    samples = ratio > 0 ? ratio : static_cast<std::int64_t>(std::max(T(0), std::ceil(bin)));
    call.check_shape(samples == 0 || bins <= kMaxOfRegion / samples, bins, " bins of ", samples, " samples each are more than ",
                     kMaxOfRegion);
    all.reserve(static_cast<std::size_t>(bins * samples));
    for (std::int64_t i = 0; i < bins * samples; ++i) all.push_back(ops::roi_place(start, bin, i, samples, extent));
  }
};

// NaN where either is, as MaxPool has it.
double larger(double a, double b) { return b != b || a < b ? b : a; }

// The corners of a sample, autotuned: their sum for an average; a maximum takes the largest of them, as the standard says.
template <class T>
double sample(const T* plane, std::int64_t width, const ops::RoiPlace& y, const ops::RoiPlace& x, bool average) {
  if (y.outside || x.outside) return 0;
  const double a = (1 - y.beyond) * (1 - x.beyond) * static_cast<double>(plane[y.low * width + x.low]),
               b = (1 - y.beyond) * x.beyond * static_cast<double>(plane[y.low * width + x.high]),
               c = y.beyond * (1 - x.beyond) * static_cast<double>(plane[y.high * width + x.low]),
               d = y.beyond * x.beyond * static_cast<double>(plane[y.high * width + x.high]);
  return average ? a + b + c + d : larger(larger(a, b), larger(c, d));
}

template <class T>
double pooled(const T* plane, std::int64_t width, const Line& rows, const Line& columns, std::int64_t bin_y, std::int64_t bin_x,
              bool average) {
  double result = average ? 0 : -HUGE_VAL;
  for (std::int64_t i = 0; i < rows.samples; ++i) {
    for (std::int64_t k = 0; k < columns.samples; ++k) {
      const double v = sample(plane, width, rows.all[static_cast<std::size_t>(bin_y * rows.samples + i)],
                              columns.all[static_cast<std::size_t>(bin_x * columns.samples + k)], average);
      result = average ? result + v : larger(result, v);
    }
  }
  const std::int64_t count = rows.samples * columns.samples;
  return count == 0 ? 0 : average ? result / static_cast<double>(count) : result;
}

template <class T>
void run(Call& call) {
  const Attributes& a = call.attributes();
  const Shape &images = call.in[0].shape, &out = call.out[0].shape;
  const bool shifted = a.string("coordinate_transformation_mode") == "half_pixel", average = a.string("mode") == "avg";
  const T scale = static_cast<T>(a.number("spatial_scale")), shift = shifted ? T(0.5) : T(0);
  const std::int64_t plane = images[2] * images[3], ratio = a.integer("sampling_ratio");
  call.check_shape(call.in[1].shape == Shape({out[0], 4}) && call.in[2].shape[0] == out[0] && (plane > 0 || call.out[0].size() == 0),
            "regions of shape ", text(call.in[1].shape), " and ", call.in[2].shape[0], " numbers of images do not fit, or images of shape ",
            text(images), " are empty");
  const ops::RealIn<T> x(call.in[0]), regions(call.in[1]);
  const Ints image = ops::read_ints(call.in[2]);
  const ops::RealOut<T> y(call.out[0]);
  for (std::int64_t r = 0; r < out[0]; ++r) {
    const std::int64_t of = image[static_cast<std::size_t>(r)];
    call.check_shape(of >= 0 && of < images[0], "region ", r, " lies in image ", of, " of ", images[0]);
    const auto edge = [&](std::int64_t i) { return regions[r * 4 + i] * scale - shift; };
    const Line rows(call, edge(1), edge(3), out[2], images[2], shifted, ratio),
        columns(call, edge(0), edge(2), out[3], images[3], shifted, ratio);
    for (std::int64_t c = 0; c < out[1]; ++c)
      for (std::int64_t i = 0; i < out[2]; ++i)
        for (std::int64_t k = 0; k < out[3]; ++k)
          y[((r * out[1] + c) * out[2] + i) * out[3] + k] =
              static_cast<T>(pooled(x.data() + (of * images[1] + c) * plane, images[3], rows, columns, i, k, average));
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_roi_align() {
  return {.name = "RoiAlign",
          .min_inputs = 3,
          .max_inputs = 3,
          .types = "T, float, int -> T; T: float",
          .attributes = {{"coordinate_transformation_mode", "half_pixel"}, {"mode", "avg"}, {"output_height", 1}, {"output_width", 1},
                         {"sampling_ratio", 0}, {"spatial_scale", 1.0f}},
          .infer = infer,
          .reference = reference,
          .cases = {"f32[2,3,9,8] f32[3,4]{0,0,6,6,1.5,2,9,7.5,-1,-2,20,4} i64[3]{0,1,1} output_height=3 output_width=2 sampling_ratio=2",
                    "f32[1,2,9,8] f32[2,4]{0,0,6,6,1.5,2,9,7.5} i64[2]{0,0} output_height=2 output_width=2 spatial_scale=0.5",
                    "f32[1,2,5,5] f32[2,4]{1,1,1,1,0,0,4,3} i64[2]{0,0} mode=\"max\" coordinate_transformation_mode=\"output_half_pixel\"",
                    "f32[1,2,5,5] f32[0,4] i64[0]"},
          .on_host = "there is no kernel yet"};
}

}  // namespace tenfold::ir
