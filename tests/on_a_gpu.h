// For tests that need a GPU: graphs, engines for it, and a fixture that skips, with the reason, where there is none.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "backends/cuda/backend.h"
#include "backends/cuda/device/device.h"
#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold::on_a_gpu {

using backends::cuda::driver;
using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }
inline double seconds_for(double usual) {
  const char* given = std::getenv("TENFOLD_SECONDS");
  return given ? std::atof(given) : usual;
}

inline ir::Graph parsed(const std::string& text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}
inline ir::Graph small_graph() {
  return parsed(R"((x f32[batch,64], w f32[64,48]!, b f32[48]!, v f32[48,10]!)
    h = MatMul(x, w)
    i = Add(h, b)
    j = Relu(i)
    k = MatMul(j, v)
    y = Softmax(k) axis=-1)");
}
inline Engine built(const ir::Graph& graph, std::int64_t width, std::int64_t max = 8) {
  BuildConfig config;
  config.device = "cuda:0";
  config.tf32 = false;
  config.optimization_level = 0;
  config.profiles = {{{"x", {{1, width}, {std::min<std::int64_t>(2, max), width}, {max, width}}}}};
  return builder::build_graph(graph, config);
}
inline Tensor expected(const ir::Graph& graph, const Tensor& x) { return std::get<Tensor>(ops::run_graph(graph, {x}).at(0)); }
inline void expect_near(const float* got, const Tensor& reference, const std::string& what) {
  for (std::int64_t i = 0; i < reference.size(); ++i) ASSERT_NEAR(got[i], reference.as_double(i), 1e-4) << what << " element " << i;
}

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string lacks;
    const auto found = backends::cuda_devices(lacks);
    if (found.empty()) GTEST_SKIP() << "no GPU: " << lacks;
    backend_ = backends::open_cuda(0);
    device_ = &backends::cuda::device_of(backend_->info());
    device_->make_current();
  }
  backends::cuda::StreamHandle new_stream() const {
    backends::cuda::StreamHandle stream = nullptr;
    EXPECT_EQ(driver()->stream_create(&stream, backends::cuda::kStreamNonBlocking), 0);
    return stream;
  }
  static std::size_t free_bytes() {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(driver()->memory_info(&free, &total), 0);
    return free;
  }
  backends::cuda::Device* device_ = nullptr;
  std::shared_ptr<backends::Backend> backend_;
};

}  // namespace tenfold::on_a_gpu
