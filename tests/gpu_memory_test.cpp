// A GPU's memory: lacking, and given back to the last byte by contexts and engines that go.
#include <unistd.h>

#include <filesystem>

#include "base/check.h"
#include "on_a_gpu.h"

namespace tenfold {
namespace {

using namespace on_a_gpu;

TEST_F(Gpu, CreatingAndDestroyingLeavesMemoryWhereItWas) {
  const ir::Graph graph = small_graph();
  const Engine engine = built(graph, 64);
  const Tensor x = ops::random_tensor(DType::f32, {4, 64}, 5), reference = expected(graph, x);
  std::size_t before = 0;
  for (int i = 0; i < 1020; ++i) {
    if (i == 20) before = free_bytes();  // by then the driver has what it keeps
    const auto context = engine.create_context();
    const Tensor got = context->run(std::vector<Tensor>{x}).at(0);
    if (i % 100 == 0) expect_near(got.data<float>(), reference, "cycle");
  }
  EXPECT_EQ(free_bytes(), before);
}

// Loading brings weights and kernels to the GPU, unloading takes them away. The driver keeps 64 KiB more or less for kernels; what were
// lost in every cycle would be more.
TEST_F(Gpu, LoadingAndUnloadingLeavesMemoryWhereItWas) {
  const ir::Graph graph = small_graph();
  const std::filesystem::path path = std::filesystem::temp_directory_path() / cat("tenfold_gpu_memory_", ::getpid(), ".plan");
  built(graph, 64).save(path.string());
  const Tensor x = ops::random_tensor(DType::f32, {4, 64}, 5), reference = expected(graph, x);
  std::size_t before = 0;
  for (int i = 0; i < 1020; ++i) {
    if (i == 20) before = free_bytes();
    const Engine engine = Engine::load(path.string(), {.device = "cuda:0"});
    const Tensor got = engine.create_context()->run(std::vector<Tensor>{x}).at(0);
    if (i % 100 == 0) expect_near(got.data<float>(), reference, "cycle");
  }
  EXPECT_GE(free_bytes() + (std::size_t{128} << 10), before);
  std::filesystem::remove(path);
}

TEST_F(Gpu, WithoutMemoryAnErrorAndAllGoesOn) {
  const ir::Graph graph = small_graph();
  const Engine engine = built(graph, 64);
  const auto old = engine.create_context();
  const Tensor x = ops::random_tensor(DType::f32, {4, 64}, 5), reference = expected(graph, x);
  expect_near(old->run(std::vector<Tensor>{x}).at(0).data<float>(), reference, "before");
  BuildConfig config;
  config.device = "cuda:0", config.optimization_level = 0;
  const auto zeros = builder::build_graph(parsed("(n i64[1])\n zeros = ConstantOfShape(n)\n y = Relu(zeros)\n"), config).create_context();
  const Engine large = built(parsed("(x f32[batch,1024])\n  y = Relu(x)\n"), 1024, std::int64_t{1} << 22);  // 16 GiB in and 16 out
  {
    std::vector<std::shared_ptr<void>> all;
    for (std::int64_t piece = std::int64_t{32} << 30; piece >= std::int64_t{1} << 30; piece /= 2) {
      try {
        while (true) all.push_back(backend_->memory().allocate(piece));
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::out_of_memory) << e.what();
      }
    }
    try {
      large.create_context();
      ADD_FAILURE() << "there was memory left";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
      EXPECT_NE(std::string(e.what()).find("17179869184 bytes of GPU memory wanted"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(" are free; smaller shapes"), std::string::npos) << e.what();
    }
    try {  // sizes that only the run knows
      Tensor n(DType::i64, {1});
      n.mutable_data<std::int64_t>()[0] = std::int64_t{1} << 30;
      zeros->run(std::vector<Tensor>{n});
      ADD_FAILURE() << "there was memory left for 4 GiB";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::out_of_memory) << e.what();
      EXPECT_NE(std::string(e.what()).find(" bytes of GPU memory wanted, "), std::string::npos) << e.what();
    }
    expect_near(old->run(std::vector<Tensor>{x}).at(0).data<float>(), reference, "while there is no memory");
  }
  EXPECT_NO_THROW(large.create_context());
  Tensor few(DType::i64, {1});
  few.mutable_data<std::int64_t>()[0] = 8;
  EXPECT_EQ(zeros->run(std::vector<Tensor>{few}).at(0).shape(), Shape{8});
  expect_near(engine.create_context()->run(std::vector<Tensor>{x}).at(0).data<float>(), reference, "afterwards");
}

}  // namespace
}  // namespace tenfold
