// Plans and models whose files are written over or cut off while they are in use, as `cp new.plan live.plan` does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/files/file.h"
#include "builder/builder.h"
#include "limits_graphs.h"
#include "tenfold/build.h"
#include "tenfold/inspect.h"
#include "tenfold/plan_cache.h"

namespace tenfold {
namespace {

namespace fs = std::filesystem;

struct ReplacedFiles : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) / cat("tenfold_live_", ::getpid());
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string at(const char* name) const { return (folder / name).string(); }
};

void write_over(const std::string& path) {
  const auto size = fs::file_size(path);
  std::ofstream(path, std::ios::in | std::ios::binary) << std::string(size, 'x');
  fs::resize_file(path, size / 8);
}

// y = x * w + w, with 256 KiB of weights: less than what was copied before, and more than a page.
Engine small_engine() {
  BuildConfig config;
  config.threads = 1, config.optimization_level = 0;
  const ir::Graph graph = limits::parse("(x f32[2,65536], w f32[65536]!)\n  p = Mul(x, w)\n  y = Add(p, w)\n  return y\n");
  return builder::build_graph(graph, config);
}
bool equal(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.bytes())) == 0;
}

TEST_F(ReplacedFiles, AnEngineKeepsItsPlan) {
  const Engine built = small_engine();
  const Tensor x = ops::random_tensor(DType::f32, {2, 65536}, 1);
  const Tensor expected = built.create_context()->run({x})[0];
  const std::string path = at("live.plan");
  built.save(path);
  const std::string bytes = read_file(path);
  const Engine live = Engine::load(path);
  const auto context = live.create_context();
  write_over(path);
  EXPECT_TRUE(equal(context->run({x})[0], expected));
  EXPECT_TRUE(equal(live.create_context()->run({x})[0], expected));
  live.save(at("again.plan"));
  EXPECT_EQ(read_file(at("again.plan")), bytes);
  EXPECT_THROW(Engine::load(path), Error);
  EXPECT_THROW(plan_version(path), Error);
}

TEST_F(ReplacedFiles, APlanIsNotKeptUnderTheKeyOfAnotherModel) {
  const std::string model = at("m.onnx");
  fs::copy_file(TENFOLD_SOURCE_DIR "/tests/install/relu.onnx", model);
  const PlanCache cache({.folder = at("plans")});
  BuildConfig config;
  config.threads = 1, config.optimization_level = 2;
  bool replaced = false;
  config.progress = [&](const Progress&) {
    if (!replaced) std::ofstream(model, std::ios::app | std::ios::binary) << "\x3a\x02n\x08";   // of no matter what
    return replaced = true;
  };
  try {
    build_file(model, config, cache);
    ADD_FAILURE() << "it was built though its model changed";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::io) << e.what();
    EXPECT_NE(std::string(e.what()).find("changed while a plan was made of it"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(replaced);
  EXPECT_EQ(cache.entries().size(), 0u);
}

}  // namespace
}  // namespace tenfold
