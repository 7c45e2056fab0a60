// Sweeps on a GPU, done by the host: window_kernels.cu compiled here, beside the same sweeps on CPUs.
#include "sweep/device_run.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/types/half.h"
#include "device/device_ensemble.h"
#include "sweep/host_work_for_tests.h"
#include "tenfold/error.h"

// What CUDA C has and C++ has not.
#define __device__
#define __forceinline__ inline
#define __global__
#define INFINITY_F std::numeric_limits<float>::infinity()

namespace tenfold::imaging::kernels {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using i64 = long long;
struct Index { unsigned x = 0, y = 0, z = 0; };
Index blockIdx, threadIdx, blockDim;
float from_f16(u16 x) { return half_to_float(x); }
float from_bf16(u16 x) { return bf16_to_float(x); }
u16 to_f16(float x) { return float_to_half(x); }
u16 to_bf16(float x) { return float_to_bf16(x); }
float __fmul_rn(float a, float b) { return a * b; }
float __fadd_rn(float a, float b) { return a + b; }
float __fdiv_rn(float a, float b) { return a / b; }
using ::expf;
using ::fmaxf;

#include "device/kernels/window_kernels.cu"

}  // namespace tenfold::imaging::kernels

namespace tenfold::imaging::tests {
namespace {

struct Stream {
  std::vector<std::function<void()>> work;
  std::size_t done = 0;
  void run(std::size_t end) {
    while (done < end) work[done++]();
  }
};
struct Event { Stream* stream = nullptr; std::size_t end = 0; };

template <class Args>
std::function<void()> kernel_call(void (*kernel)(Args), const void* argument) {
  return [kernel, args = *static_cast<const Args*>(argument)] { kernel(args); };
}

}  // namespace

std::shared_ptr<void> HostWork::allocate(std::int64_t bytes) {
  if (bytes > left) throw Error(ErrorKind::out_of_memory, "no memory is left");
  left -= bytes;
  void* const memory = std::malloc(static_cast<std::size_t>(bytes));
  std::memset(memory, 0xff, static_cast<std::size_t>(bytes));   // NaN
  return {memory, [](void* p) { std::free(p); }};
}
std::shared_ptr<void> HostWork::make_stream() {
  return {new Stream, [](Stream* stream) {
            stream->run(stream->work.size());
            delete stream;
          }};
}
std::shared_ptr<void> HostWork::make_event() { return std::make_shared<Event>(); }
std::shared_ptr<const void> HostWork::load_kernel(const std::string& source, const char* name) {
  EXPECT_NE(source.find(std::string("__global__ void ") + name + "("), std::string::npos);
  return std::make_shared<std::string>(name);
}
void HostWork::enqueue(void* stream, std::function<void()> work) {
  static_cast<Stream*>(stream)->work.push_back(std::move(work));
}
void HostWork::copy(void* to, const void* from, std::int64_t bytes, void* stream) {
  copied += bytes;
  enqueue(stream, [=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
}
void HostWork::fill(void* to, int byte, std::int64_t bytes, void* stream) {
  enqueue(stream, [=] { std::memset(to, byte, static_cast<std::size_t>(bytes)); });
}
void HostWork::launch(const void* kernel, std::array<std::int64_t, 3> blocks, unsigned threads, const void* argument,
                      void* stream) {
  const std::string& name = *static_cast<const std::string*>(kernel);
  const std::function<void()> call = name == "cut"   ? kernel_call(kernels::cut, argument)
                                     : name == "add" ? kernel_call(kernels::add, argument)
                                     : name == "mean" ? kernel_call(kernels::mean, argument)
                                                     : kernel_call(kernels::finish, argument);
  enqueue(stream, [=] {
    const auto [x, y, z] = blocks;
    kernels::blockDim = {threads, 1, 1};
    for (std::int64_t b = 0; b < x * y * z; ++b)
      for (unsigned t = 0; t < threads; ++t) {
        kernels::blockIdx = {static_cast<unsigned>(b % x), static_cast<unsigned>(b / x % y),
                             static_cast<unsigned>(b / x / y)};
        kernels::threadIdx = {t, 0, 0};
        call();
      }
  });
}
void HostWork::record(void* event, void* stream) {
  *static_cast<Event*>(event) = {static_cast<Stream*>(stream), static_cast<Stream*>(stream)->work.size()};
}
void HostWork::follow(void* stream, void* event) {
  if (const Event at = *static_cast<Event*>(event); at.stream != nullptr)
    enqueue(stream, [at] { at.stream->run(at.end); });
}
void HostWork::wait(void* event) {
  if (const Event at = *static_cast<Event*>(event); at.stream != nullptr) at.stream->run(at.end);
}

namespace {

Tensor random_tensor(DType dtype, Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const unsigned value = random() % 200;
    const float real = static_cast<float>(value) / 100 - 1;
    switch (dtype) {
      case DType::u8: tensor.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(value); break;
      case DType::u16: tensor.mutable_data<std::uint16_t>()[i] = static_cast<std::uint16_t>(value * 300); break;
      case DType::f16: tensor.mutable_data<std::uint16_t>()[i] = float_to_half(real); break;
      default: tensor.mutable_data<float>()[i] = real;
    }
  }
  return tensor;
}

// y[c] = x[0] * mask[c], of each window, as f16 or f32; a second output is twice as fine along the last axis.
struct Masked {
  Tensor mask;
  DType dtype;
  bool two_outputs;

  std::vector<Tensor> operator()(const Tensor& windows) const {
    const std::int64_t batch = windows.shape()[0], of_window = windows.size() / batch,
                       roi = of_window / windows.shape()[1];
    Shape shape = windows.shape(), fine = windows.shape();
    shape[1] = mask.shape()[0], fine[1] = 1, fine.back() *= 2;
    Tensor y(dtype, shape), z(DType::f32, fine);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const float value =
          windows.data<float>()[i / mask.size() * of_window + i % roi] * mask.data<float>()[i % mask.size()];
      if (dtype == DType::f16) y.mutable_data<std::uint16_t>()[i] = float_to_half(value);
      else y.mutable_data<float>()[i] = value;
    }
    if (!two_outputs) return {y};
    for (std::int64_t i = 0; i < z.size(); ++i) {
      const std::int64_t at = i / 2;
      z.mutable_data<float>()[i] = windows.data<float>()[at / roi * of_window + at % roi] + static_cast<float>(i % (2 * roi) % 7);
    }
    return {y, z};
  }
};

// The same on the memory of HostWork, in its streams' time. Windows have the axes of the image, whatever the sweep's are.
class MaskedOnDevice final : public DevicePredictor {
 public:
  MaskedOnDevice(const SlidingWindow& windows, std::int64_t channels, std::int64_t batch, Masked masked, AxisOrder order = {})
      : masked_(std::move(masked)), order_(std::move(order)) {
    if (order_.empty()) order_ = axis_first(0, windows.roi().size());
    Shape shape = {batch, channels};
    shape.insert(shape.end(), windows.roi().begin(), windows.roi().end());
    windows_ = Tensor(DType::f32, shape);
    for (const Tensor& one : masked_(windows_)) {
      results_.push_back(one);
      const Shape window(one.shape().begin() + 1, one.shape().end());
      outputs_.push_back({one.raw(), one.dtype(), turned(window, order_), strides_in_order(window, order_)});
    }
  }
  std::int64_t batch() const override { return windows_.shape()[0]; }
  std::vector<Input> inputs() const override {
    return {{windows_.mutable_raw(), DType::f32, strides_in_order(windows_.shape(), order_), windows_.shape()[0]}};
  }
  const std::vector<Output>& outputs() const override { return outputs_; }
  void enqueue(void* stream) override {
    HostWork::enqueue(stream, [this] {
      const std::vector<Tensor> found = masked_(windows_);
      for (std::size_t i = 0; i < found.size(); ++i)
        std::memcpy(results_[i].mutable_raw(), found[i].raw(), static_cast<std::size_t>(found[i].bytes()));
    });
  }
  void finish() override {}

 private:
  Masked masked_;
  AxisOrder order_;
  mutable Tensor windows_;
  std::vector<Tensor> results_;
  std::vector<Output> outputs_;
};

enum class Where { planes, memory, gpu };   // a sink's

class Sink final : public ImageSink {
 public:
  explicit Sink(Where where) : where_(where) {}
  void open(DType dtype, const Shape& shape) override { image = Tensor(dtype, shape); }
  void write(std::int64_t number, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    const Shape strides = dense_strides(image.shape());
    Shape region = {image.shape()[1]};
    region.insert(region.end(), extent.begin(), extent.end());
    std::int64_t at = number * strides[0];
    for (std::size_t a = 0; a < begin.size(); ++a) at += begin[a] * strides[2 + a];
    const std::int64_t size = byte_size(image.dtype(), 1);
    copy_strided({static_cast<std::byte*>(const_cast<void*>(from)), dense_strides(region)},
                 {static_cast<std::byte*>(image.mutable_raw()) + at * size, Shape(strides.begin() + 1, strides.end())}, region, size);
  }
  void* memory() override { return where_ == Where::memory ? image.mutable_raw() : nullptr; }
  void* gpu_memory() override { return where_ == Where::gpu ? image.mutable_raw() : nullptr; }
  Tensor image;

 private:
  Where where_;
};

class Source final : public ImageSource {
 public:
  Source(Tensor images, std::int64_t chunk) : images_(std::move(images)), chunk_(chunk) {}
  Shape shape() const override { return images_.shape(); }
  DType dtype() const override { return images_.dtype(); }
  std::int64_t chunk() const override { return chunk_; }
  const void* memory() const override { return chunk_ == 0 ? images_.raw() : nullptr; }
  const void* gpu_memory() const override { return chunk_ < 0 ? images_.raw() : nullptr; }   // HostWork's
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override {
    const Shape strides = dense_strides(images_.shape());
    Shape region = {images_.shape()[1]};
    region.insert(region.end(), extent.begin(), extent.end());
    std::int64_t at = image * strides[0];
    for (std::size_t a = 0; a < begin.size(); ++a) at += begin[a] * strides[2 + a];
    const std::int64_t size = byte_size(images_.dtype(), 1);
    copy_strided({static_cast<std::byte*>(const_cast<void*>(images_.raw())) + at * size, Shape(strides.begin() + 1, strides.end())},
                 {static_cast<std::byte*>(to), dense_strides(region)}, region, size);
  }

 private:
  Tensor images_;
  std::int64_t chunk_;
};

struct Case {
  Shape image, roi;
  SlidingWindowOptions options;
  std::int64_t images = 1, channels = 1, classes = 3, batch = 2, chunk = 0;   // 0: in memory, -1: on the GPU
  DType source = DType::f32, results = DType::f32;
  StitchOptions stitch = {};
  bool two_outputs = false;
  SweepOptions sweep = {};   // axis, memory, parts
  int engines = 1;
};

SweepOptions options_of(const Case& c) {
  SweepOptions options = c.sweep;
  options.stitch = c.stitch, options.window_batch = c.batch;
  return options;
}

// Engine e gives what engine 0 gives with another mask.
std::vector<Masked> masked_of(const Case& c, const Shape& mask) {
  std::vector<Masked> all;
  for (int e = 0; e < c.engines; ++e)
    all.push_back({random_tensor(DType::f32, mask, 4 + static_cast<unsigned>(e)), c.results, c.two_outputs});
  return all;
}

std::vector<Tensor> on_device(const Case& c, const SlidingWindow& windows, const Tensor& images, const std::vector<Masked>& engines) {
  HostWork work;
  Source source(images, c.chunk);
  SweepOptions options = options_of(c);
  std::vector<std::unique_ptr<DevicePredictor>> members;
  for (const Masked& one : engines)
    members.push_back(std::make_unique<MaskedOnDevice>(windows, c.channels, c.batch, one, sweep_order(windows, options)));
  std::unique_ptr<DevicePredictor> predictor = std::move(members[0]);
  if (engines.size() > 1) members[0] = std::move(predictor), predictor = std::make_unique<DeviceEnsemble>(work, std::move(members));
  std::int64_t reported = 0, all = 0;
  options.progress = [&](std::int64_t done, std::int64_t total) { return reported = done, all = total, true; };
  std::vector<std::shared_ptr<Sink>> sinks;
  const Where where = c.chunk < 0 ? Where::gpu : c.chunk != 1 ? Where::memory : Where::planes;
  DeviceRun sweep(work, windows, source, *predictor, options);
  sweep.run([&](std::size_t) { return sinks.emplace_back(std::make_shared<Sink>(where)); });
  EXPECT_EQ(reported, all);
  std::vector<Tensor> outputs;
  for (const std::shared_ptr<Sink>& sink : sinks) outputs.push_back(sink->image);
  return outputs;
}

// Means as the host's ensemble adds them.
std::vector<Tensor> mean_of(const std::vector<Masked>& engines, const Tensor& batch) {
  std::vector<Tensor> sums = engines[0](batch);
  if (engines.size() == 1) return sums;
  for (Tensor& one : sums) {
    Tensor wide(DType::f32, one.shape());
    for (std::int64_t i = 0; i < one.size(); ++i) wide.mutable_data<float>()[i] = static_cast<float>(one.as_double(i));
    one = wide;
  }
  for (std::size_t e = 1; e < engines.size(); ++e) {
    const std::vector<Tensor> more = engines[e](batch);
    for (std::size_t o = 0; o < sums.size(); ++o)
      for (std::int64_t i = 0; i < sums[o].size(); ++i) sums[o].mutable_data<float>()[i] += static_cast<float>(more[o].as_double(i));
  }
  for (Tensor& one : sums)
    for (std::int64_t i = 0; i < one.size(); ++i) one.mutable_data<float>()[i] /= static_cast<float>(engines.size());
  return sums;
}

void compare(Case c) {
  c.options.roi = c.roi;
  const SlidingWindow windows(c.image, c.options);
  Shape shape = {c.images, c.channels}, mask = {c.classes};
  shape.insert(shape.end(), c.image.begin(), c.image.end());
  mask.insert(mask.end(), windows.roi().begin(), windows.roi().end());
  const Tensor images = random_tensor(c.source, shape, 3);
  const std::vector<Masked> engines = masked_of(c, mask);
  std::vector<std::shared_ptr<Sink>> sinks;
  Source source(images, 1);
  sweep(windows, source, [&](const Tensor& batch, std::int64_t) { return mean_of(engines, batch); },
        [&](std::size_t) { return sinks.emplace_back(std::make_shared<Sink>(Where::planes)); }, options_of(c));
  std::vector<Tensor> expected;
  for (const std::shared_ptr<Sink>& sink : sinks) expected.push_back(sink->image);
  const std::vector<Tensor> found = on_device(c, windows, images, engines);
  ASSERT_EQ(found.size(), expected.size());
  const bool exact = c.stitch.activation == OutputActivation::none;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].shape(), expected[i].shape());
    ASSERT_EQ(found[i].dtype(), expected[i].dtype());
    if (found[i].dtype() == DType::f32)
      for (std::int64_t v = 0; v < found[i].size(); ++v)
        ASSERT_NEAR(found[i].data<float>()[v], expected[i].data<float>()[v], exact ? 0 : 1e-6) << i << " at " << v;
    else EXPECT_EQ(std::memcmp(found[i].raw(), expected[i].raw(), static_cast<std::size_t>(found[i].bytes())), 0);
  }
}

SlidingWindowOptions gaussian(double overlap) { return {.overlap = {overlap}, .mode = WindowMode::gaussian}; }

TEST(DeviceSweep, EqualsThatOfTheHost) {
  compare({.image = {19, 14, 11}, .roi = {6, 5, 4}, .options = gaussian(0.5), .images = 2, .channels = 2, .batch = 4});
  compare({.image = {19, 14, 11}, .roi = {6, 5, 4}, .options = gaussian(0.7), .batch = 3, .chunk = 1});
  compare({.image = {40, 9, 9}, .roi = {8, 9, 4}, .options = gaussian(0.25), .batch = 1, .chunk = 5});
  compare({.image = {31, 17}, .roi = {8, 8}, .options = gaussian(0.6), .channels = 3, .batch = 5});
  compare({.image = {57}, .roi = {16}, .options = gaussian(0.5), .images = 3, .chunk = 1});
  compare({.image = {7, 6, 8, 5}, .roi = {3, 4, 4, 3}, .options = gaussian(0.5), .images = 2, .batch = 40, .chunk = 2});
}

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

TEST(DeviceSweep, ReadsAndWritesInPlaceOnTheGpu) {
  for (const OutputReduction reduction : {OutputReduction::none, OutputReduction::argmax})
    compare({.image = {40, 9, 9}, .roi = {8, 9, 4}, .options = gaussian(0.25), .images = 2, .channels = 2, .chunk = -1,
             .source = DType::u16, .stitch = {.reduction = reduction}, .two_outputs = true});
  compare({.image = {9, 5, 11}, .roi = {4, 8, 16}, .options = gaussian(0.5), .chunk = -1});
  compare({.image = {57}, .roi = {16}, .options = gaussian(0.5), .images = 3, .chunk = -1});
}

TEST(DeviceSweep, PadsAsTheHostDoes) {
  for (const WindowPadding padding : {WindowPadding::constant, WindowPadding::reflect, WindowPadding::replicate,
                                      WindowPadding::circular}) {
    SlidingWindowOptions options = gaussian(0.5);
    options.padding = padding, options.cval = 0.5;
    compare({.image = {9, 5, 11}, .roi = {4, 8, 16}, .options = options, .chunk = 1});
    compare({.image = {5, 12}, .roi = {7, 6}, .options = options, .images = 2});
  }
}

TEST(DeviceSweep, WeighsAsTheHostDoes) {
  compare({.image = {20, 13}, .roi = {8, 6}, .options = {.mode = WindowMode::halo, .halo = {2, 1}}, .batch = 3});
  compare({.image = {20, 13}, .roi = {8, 6}, .options = {.overlap = {0.9}, .placement = WindowPlacement::even}});
  Tensor rising(DType::f32, {8, 6});
  for (int i = 0; i < 48; ++i) rising.mutable_data<float>()[i] = static_cast<float>(i + 1);
  compare({.image = {20, 13}, .roi = {8, 6}, .options = {.weights = rising}});
}

TEST(DeviceSweep, TakesTypesAndSeveralOutputs) {
  for (const DType source : {DType::u8, DType::u16, DType::f16, DType::f32})
    for (const DType results : {DType::f16, DType::f32})
      compare({.image = {18, 12, 10}, .roi = {6, 6, 5}, .options = gaussian(0.5), .source = source, .results = results,
               .two_outputs = true});
}

TEST(DeviceSweep, Reduces) {
  for (const OutputActivation activation : {OutputActivation::none, OutputActivation::sigmoid, OutputActivation::softmax})
    for (const OutputReduction reduction : {OutputReduction::none, OutputReduction::argmax, OutputReduction::threshold})
      compare({.image = {18, 12, 10}, .roi = {6, 6, 5}, .options = gaussian(0.5), .classes = 5, .chunk = 1,
               .stitch = {.activation = activation, .reduction = reduction, .threshold = 0.4}});
  compare({.image = {12, 10}, .roi = {6, 5}, .options = gaussian(0.5), .classes = 300,
           .stitch = {.reduction = OutputReduction::argmax}});
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

TEST(DeviceSweep, RefusesWeightsThatSumToZero) {
  Tensor weights(DType::f32, {4, 4});
  std::memset(weights.mutable_raw(), 0, static_cast<std::size_t>(weights.bytes()));
  weights.mutable_data<float>()[5] = 1;
  const SlidingWindow windows({8, 8}, {.roi = {4, 4}, .weights = weights});
  HostWork work;
  Source source(random_tensor(DType::f32, {1, 1, 8, 8}, 1), 0);
  MaskedOnDevice predictor(windows, 1, 2, {random_tensor(DType::f32, {3, 4, 4}, 2), DType::f32, false});
  DeviceRun sweep(work, windows, source, predictor, {});
  EXPECT_THROW(sweep.run([](std::size_t) { return std::make_shared<Sink>(Where::memory); }), Error);
}

}  // namespace
}  // namespace tenfold::imaging::tests
