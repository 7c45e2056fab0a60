// What vectors of places read, bit by bit what the rule for one place says: corners, borders, places far outside, NaN.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/cpu_info.h"
#include "backends/cpu/kernels/resize/sample.h"
#include "ops/cases.h"
#include "ops/resize/grid_sample.h"

namespace tenfold::backends::cpu {
namespace {

// What taps count along a dim. Where nothing is read, and for NaN, a tap beside the first counts nothing.
ops::Taps two_taps(const ops::Sampling& sampling, float place, std::int64_t extent) {
  ops::Taps taps = ops::taps_at<float>(sampling, place, extent);
  taps.count = 2;
  return taps;
}

void check(const SampleKernels& kernels, const SampleGrid& grid, const ops::Sampling& sampling, const std::vector<float>& places) {
  const auto count = static_cast<std::int64_t>(places.size()) / grid.dims;
  std::int32_t offset[kSampleBlock << kSampleDims];
  float weight[kSampleBlock << kSampleDims];
  kernels.linear(grid, places.data(), count, offset, weight);
  for (std::int64_t i = 0; i < count; ++i)
    for (int t = 0; t < 1 << grid.dims; ++t) {
      std::int64_t at = 0;
      float w = 1;
      for (int d = 0; d < grid.dims; ++d) {
        const float place = places[static_cast<std::size_t>(i * grid.dims + grid.dims - 1 - d)];
        const int tap = t >> (grid.dims - 1 - d) & 1;
        const bool none = ops::taps_at<float>(sampling, place, grid.extents[d]).count == 0;
        const ops::Taps along = two_taps(sampling, place, grid.extents[d]);
        at = at * grid.extents[d] + along.at[tap], w = (none ? 0 : w) * static_cast<float>(along.weight[tap]);
      }
      const float got = weight[t * kSampleBlock + i];
      ASSERT_TRUE(got == w || (std::isnan(got) && std::isnan(w))) << "place " << i << ", tap " << t << ": " << got << ", not " << w;
      ASSERT_GE(offset[t * kSampleBlock + i], 0);
      const bool counts = w != 0 && !std::isnan(w);
      ASSERT_EQ(counts ? at : 0, counts ? offset[t * kSampleBlock + i] : 0) << "place " << i << ", tap " << t;
    }
}

TEST(GridSample, VectorsOfPlacesReadWhatOnePlaceReads) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values = {-1, 1, 0, -0.f, -1.f + 1e-7f, 1 - 1e-7f, 1e-10f, -1e-10f, -1.5f, 1.5f, -4, 4,
                               1e30f, -1e30f, kInf, -kInf, kNan};
  const Tensor more = ops::random_tensor(DType::f32, {79}, 5);
  for (std::int64_t i = 0; i < more.size(); ++i) values.push_back(static_cast<float>(more.as_double(i)));
  const std::int64_t extents[][kSampleDims] = {{9, 12, 7}, {1, 1, 1}, {2, 1, 3}, {64, 64, 64}, {1 << 22, 3, 5}};
  for (const std::uint32_t isa : {kAvx2, kAvx512}) {
    if (!(this_cpu().features & isa)) continue;
    for (const auto& extent : extents)
      for (const int dims : {1, 2, 3})
        for (const char* padding : {"zeros", "border"})
          for (const int corners : {0, 1}) {
            ir::Attributes attributes;
            attributes.set("mode", std::string("linear")), attributes.set("padding_mode", std::string(padding));
            attributes.set("align_corners", std::int64_t{corners});
            SampleGrid grid{.dims = dims, .corners = corners != 0, .border = padding[0] == 'b'};
            std::copy(extent, extent + dims, grid.extents);
            for (std::size_t first = 0; first < values.size(); first += 11) {   // each value beside others, counts below a block
              std::vector<float> places;
              for (std::size_t i = 0; i < (first % 2 ? 32u : 21u) * static_cast<std::size_t>(dims); ++i)
                places.push_back(values[(first + i * (i % 3 + 1)) % values.size()]);
              check(isa == kAvx2 ? tenfold_sample_avx2 : tenfold_sample_avx512, grid, ops::Sampling(attributes), places);
            }
          }
  }
}

}  // namespace
}  // namespace tenfold::backends::cpu
