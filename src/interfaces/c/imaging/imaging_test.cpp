// Sliding windows in C, used by a C file: beside what C++ gives.
#include <gtest/gtest.h>

#include "c/imaging/imaging.h"
#include "c/imaging/imaging_use.h"

namespace tenfold {
namespace {

Tensor some_image() {
  Tensor image(DType::f32, {1, 2, kPlanes, kColumns});
  for (std::int64_t i = 0; i < image.size(); ++i) image.mutable_data<float>()[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  return image;
}
const SlidingWindow& some_windows() {
  static const SlidingWindow windows({kPlanes, kColumns}, {.roi = {kRows, kWidth}, .overlap = {0.5}, .mode = WindowMode::gaussian});
  return windows;
}

TEST(CImaging, Windows) { EXPECT_EQ(tenfold_windows_from_c(), 0) << tenfold_last_error(); }

TEST(CImaging, SweepInferAndStitch) {
  const Tensor image = some_image();
  float swept[kVoxels], inferred[kVoxels], stitched[kVoxels];
  ASSERT_EQ(tenfold_sweep_from_c(image.data<float>(), swept, inferred, stitched), 0) << tenfold_last_error();
  const auto predict = [](const Tensor& windows, std::int64_t first) {
    Tensor y(DType::f32, {windows.shape()[0], 1, kRows, kWidth});
    for (std::int64_t i = 0; i < y.size(); ++i)
      y.mutable_data<float>()[i] = (windows.data<float>()[i / kWindow * 2 * kWindow + i % kWindow] +
                                    static_cast<float>(first + i / kWindow) / 8) * static_cast<float>(1 + i % kWindow);
    return std::vector<Tensor>{y};
  };
  const Tensor expected = infer(some_windows(), image, predict)[0];
  for (int i = 0; i < kVoxels; ++i) {
    EXPECT_EQ(swept[i], expected.data<float>()[i]) << i;
    EXPECT_EQ(inferred[i], expected.data<float>()[i]) << i;
    EXPECT_EQ(stitched[i], expected.data<float>()[i]) << i;
  }
}

TEST(CImaging, EnginesAndTheirMean) {
  const Tensor image = some_image();
  std::vector<float> first(2 * kVoxels), second(2 * kVoxels), mean(2 * kVoxels);
  ASSERT_EQ(tenfold_engines_from_c(image.data<float>(), first.data(), second.data(), mean.data()), 0) << tenfold_last_error();
  const auto ramp = [](float scale) {
    return [scale](const Tensor& windows, std::int64_t) {
      Tensor y(DType::f32, windows.shape());
      for (std::int64_t i = 0; i < y.size(); ++i)
        y.mutable_data<float>()[i] = windows.data<float>()[i] * (scale + static_cast<float>(i % kWindow));
      return std::vector<Tensor>{y};
    };
  };
  const Tensor a = infer(some_windows(), image, ramp(5))[0], b = infer(some_windows(), image, ramp(-3))[0];
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(first[i], a.data<float>()[i], 2e-5);
    EXPECT_NEAR(second[i], b.data<float>()[i], 2e-5);
    EXPECT_NEAR(mean[i], (a.data<float>()[i] + b.data<float>()[i]) / 2, 2e-5);
  }
}

TEST(CImaging, Faults) { EXPECT_EQ(tenfold_faults_from_c(some_image().data<float>()), 0) << tenfold_last_error(); }

// Every field of the C++ interface's structs is reached from C: a new one does not compile until C has it.
TEST(CImaging, Fields) {
  const std::int64_t roi[] = {3, 0}, halo[] = {1};
  const double overlap[] = {0.5, 0.125}, sigma[] = {0.25};
  const tenfold_data map{Tensor(DType::f32, {3, 4})};
  tenfold_sliding_window_options w{};
  w.struct_size = sizeof w, w.roi = roi, w.roi_count = 2, w.overlap = overlap, w.overlap_count = 2;
  w.sigma_scale = sigma, w.sigma_scale_count = 1, w.halo = halo, w.halo_count = 1, w.mode = "halo", w.placement = "even";
  w.padding = "reflect", w.weights = &map, w.cval = 2;
  const auto& [c_roi, c_overlap, mode, sigma_scale, c_halo, weights, placement, padding, cval] = c::window_options_of(&w);
  EXPECT_EQ(c_roi, (Shape{3, 0}));
  EXPECT_EQ(c_overlap, (std::vector<double>{0.5, 0.125}));
  EXPECT_EQ(sigma_scale, std::vector<double>{0.25});
  EXPECT_EQ(c_halo, Shape{1});
  EXPECT_EQ(weights.shape(), (Shape{3, 4}));
  EXPECT_TRUE(mode == WindowMode::halo && placement == WindowPlacement::even && padding == WindowPadding::reflect && cval == 2);

  const double zero = 0;
  const std::int64_t grid[] = {9, 8};
  const char* nearest = "nearest";
  tenfold_stitch_options s{sizeof s, "sigmoid", "threshold", &zero, 3, 2, grid, &nearest, 1, 0};
  const auto count_calls = [](void* user, std::int64_t, std::int64_t) { return ++*static_cast<std::int32_t*>(user); };
  std::int32_t calls = 0;
  const auto count_lines = [](void* user, std::int32_t, const char*) { ++*static_cast<std::int32_t*>(user); };
  tenfold_sweep_options o{sizeof o, &s, 7, "f16", count_calls, &calls, 1000, 1, 2, 3, count_lines, &calls, nullptr, 1, 2, 1};
  const auto& [stitch, several, window_batch, axis, input, memory, first_plane, first_row, end_row, log, seconds, progress,
               stay_on_gpu] =
      c::sweep_options_of(&o);
  const auto& [activation, reduction, threshold, threads, c_grid, interpolation] = stitch;
  EXPECT_EQ(c_grid, (Shape{9, 8}));
  EXPECT_EQ(interpolation, std::vector{GridInterpolation::nearest});
  EXPECT_TRUE(memory == 1000 && first_plane == 1 && first_row == 2 && end_row == 3 && !stay_on_gpu && seconds == nullptr);
  EXPECT_TRUE(activation == OutputActivation::sigmoid && reduction == OutputReduction::threshold && threshold == 0 && threads == 3);
  EXPECT_EQ(several, SeveralEngines::devices);
  EXPECT_TRUE(window_batch == 7 && axis == 2 && input == DType::f16 && progress(1, 2) && calls == 1);
  log(Severity::info, "");
  EXPECT_EQ(calls, 2);

  // Of zeroed ones, every field means the default.
  tenfold_sweep_options zeros{};
  zeros.struct_size = sizeof zeros;
  const SweepOptions made = c::sweep_options_of(&zeros), usual;
  EXPECT_TRUE(made.window_batch == usual.window_batch && made.input == usual.input && !made.progress);
  EXPECT_TRUE(made.stitch.threshold == usual.stitch.threshold && made.stitch.reduction == usual.stitch.reduction);
  w.overlap_count = w.sigma_scale_count = w.halo_count = 0, w.mode = w.placement = w.padding = nullptr;
  const SlidingWindowOptions windows = c::window_options_of(&w), usual_windows;
  EXPECT_EQ(windows.overlap, usual_windows.overlap);
  EXPECT_EQ(windows.sigma_scale, usual_windows.sigma_scale);
  EXPECT_TRUE(windows.mode == usual_windows.mode && windows.padding == usual_windows.padding);
}

}  // namespace
}  // namespace tenfold
