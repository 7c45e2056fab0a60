// Parts of sweeps on a GPU, several engines, memory and copies: what the host does there.
#include "sweep/device_case_for_tests.h"

namespace tenfold::imaging::tests {
namespace {

TEST(DeviceSweep, PassesAlongAnyAxis) {
  for (const int axis : {1, 2})
    for (const std::int64_t chunk : {0, 1, 5})
      compare({.image = {11, 14, 19}, .roi = {4, 5, 6}, .options = gaussian(0.5), .images = 2, .channels = 2, .batch = 3, .chunk = chunk,
               .results = DType::f16, .two_outputs = true, .sweep = {.axis = axis}});
  compare({.image = {17, 31}, .roi = {8, 7}, .options = {.mode = WindowMode::halo, .halo = {2, 1}}, .chunk = 1, .sweep = {.axis = 1}});
  compare({.image = {6, 7, 8, 5}, .roi = {4, 3, 4, 3}, .options = gaussian(0.5), .batch = 7,
           .stitch = {.reduction = OutputReduction::argmax}, .sweep = {.axis = 3}});
}

// With little more memory than the least that will do.
void compare_in_bands(Case c) {
  for (c.sweep.memory = 500;; c.sweep.memory = c.sweep.memory * 5 / 4) {
    std::string told;
    c.sweep.log = [&](Severity, std::string_view line) { told += line; };
    try {
      compare(c);
    } catch (const Error& error) {
      ASSERT_NE(std::string(error.what()).find("one row of windows needs"), std::string::npos) << error.what();
      continue;
    }
    EXPECT_NE(told.find("bands"), std::string::npos) << told;
    return;
  }
}

TEST(DeviceSweep, CutsBandsWhereMemoryIsBounded) {
  for (const std::int64_t chunk : {-1, 0, 1, 3})
    for (const int axis : {0, 1}) {
      if (chunk < 0 && axis > 0) continue;   // the host turns images
      compare_in_bands({.image = {43, 40, 9}, .roi = {6, 6, 5}, .options = gaussian(0.5), .images = 2, .channels = 2, .batch = 2,
                        .chunk = chunk, .source = DType::u16, .two_outputs = true, .sweep = {.axis = axis}});
    }
  compare_in_bands({.image = {157}, .roi = {16}, .options = gaussian(0.5), .images = 3, .chunk = 1});
  compare_in_bands({.image = {20, 60}, .roi = {8, 6}, .options = {.mode = WindowMode::halo, .halo = {2, 1}}, .batch = 3, .chunk = 1,
                    .stitch = {.reduction = OutputReduction::argmax}});
}

TEST(DeviceSweep, ComputesAPartOfTheResults) {
  for (const std::int64_t chunk : {1, 4})
    for (const auto& [plane, row, end] : {std::array<std::int64_t, 3>{0, 5, 17}, {8, 0, 0}, {13, 3, 20}, {19, 0, 4}})
      compare({.image = {21, 20, 9}, .roi = {6, 6, 5}, .options = gaussian(0.5), .batch = 3, .chunk = chunk, .two_outputs = true,
               .sweep = {.first_plane = plane, .first_row = row, .end_row = end}});
}

TEST(DeviceSweep, GivesTheMeanOfSeveralEngines) {
  for (const DType results : {DType::f16, DType::f32})
    compare({.image = {19, 14, 11}, .roi = {6, 5, 4}, .options = gaussian(0.5), .channels = 2, .batch = 4, .results = results,
             .stitch = {.activation = OutputActivation::softmax}, .two_outputs = true, .sweep = {.axis = 1}, .engines = 3});
}

TEST(DeviceSweep, ResamplesBandsPartsAndMeans) {
  const StitchOptions stitch = {.grid = {50, 61, 7}};
  for (const std::int64_t chunk : {-1, 0, 3})
    compare_in_bands({.image = {43, 40, 9}, .roi = {6, 6, 5}, .options = gaussian(0.5), .images = 2, .channels = 2, .chunk = chunk,
                      .stitch = stitch, .two_outputs = true});
  for (const auto& [plane, row, end] : {std::array<std::int64_t, 3>{0, 5, 17}, {8, 0, 0}, {33, 3, 60}, {49, 0, 4}})
    compare({.image = {21, 20, 9}, .roi = {6, 6, 5}, .options = gaussian(0.5), .batch = 3, .chunk = 4, .stitch = stitch,
             .two_outputs = true, .sweep = {.first_plane = plane, .first_row = row, .end_row = end}});
  for (const int axis : {1, 2})
    compare({.image = {11, 14, 19}, .roi = {4, 5, 6}, .options = gaussian(0.5), .images = 2, .chunk = 1, .stitch = stitch,
             .sweep = {.axis = axis}, .engines = 2});
}

TEST(DeviceSweep, ReadsAndWritesInPlaceOnTheGpu) {
  for (const OutputReduction reduction : {OutputReduction::none, OutputReduction::argmax})
    compare({.image = {40, 9, 9}, .roi = {8, 9, 4}, .options = gaussian(0.25), .images = 2, .channels = 2, .chunk = -1,
             .source = DType::u16, .stitch = {.reduction = reduction}, .two_outputs = true});
  compare({.image = {9, 5, 11}, .roi = {4, 8, 16}, .options = gaussian(0.5), .chunk = -1});
  compare({.image = {57}, .roi = {16}, .options = gaussian(0.5), .images = 3, .chunk = -1});
}

TEST(DeviceSweep, SendsEachPlaneOnce) {
  const SlidingWindow windows({64, 8, 8}, {.roi = {8, 8, 8}, .overlap = {0.5}});
  const Tensor images = random_tensor(DType::u16, {1, 1, 64, 8, 8}, 1);
  HostWork work;
  Source source(images, 4);
  MaskedOnDevice predictor(windows, 1, 2, {random_tensor(DType::f32, {3, 8, 8, 8}, 2), DType::f16, false});
  SweepOptions options;
  options.stitch.reduction = OutputReduction::argmax;
  DeviceRun sweep(work, windows, source, predictor, options);
  const std::int64_t before = work.copied;
  sweep.run([](std::size_t) { return std::make_shared<Sink>(Where::planes); });
  const std::int64_t in = 64 * 8 * 8 * 2, out = 64 * 8 * 8;
  EXPECT_EQ(work.copied - before, in + out + 4);   // and whether a divisor was none
}

TEST(DeviceSweep, TakesItsMemoryBeforeItReads) {
  const SlidingWindow windows({64, 8, 8}, {.roi = {8, 8, 8}});
  HostWork work;
  work.left = 17 << 20;   // too little for pieces
  Source source(random_tensor(DType::f32, {1, 1, 64, 8, 8}, 1), 0);
  MaskedOnDevice predictor(windows, 1, 2, {random_tensor(DType::f32, {3, 8, 8, 8}, 2), DType::f32, false});
  try {
    DeviceRun sweep(work, windows, source, predictor, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
  }
}

}  // namespace
}  // namespace tenfold::imaging::tests
