// Builds that share a timing cache: what a build saves is complete, whatever others have saved while it ran.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <utility>

#include "base/files/file.h"
#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "tune/timing/timing_cache.h"

namespace tenfold::builder {
namespace {

ir::Graph layers() {
  return ir::parse_graph(R"((x f32[2,8,14,14], w f32[16,8,3,3]!, v f32[16,16,3,3]!, m f32[16,12]!)
    a = Conv(x, w) pads=[1,1,1,1]
    b = Relu(a)
    c = Conv(b, v) pads=[1,1,1,1]
    d = Add(b, c)
    e = GlobalAveragePool(d)
    f = Flatten(e)
    g = MatMul(f, m)
    y = Softmax(g))",
                         ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

// Another machine's mood: each time of the cache divided by up to a thousand.
std::string other_times(const std::string& text, unsigned seed) {
  std::mt19937 random(seed);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at), tab = text.find('\t', at);
    if (at == 0 || tab > end) out += text.substr(at, end + 1 - at);
    else out += std::to_string(std::stod(text.substr(at, tab - at)) / (1 + random() % 1000)) + text.substr(tab, end + 1 - tab);
    at = end + 1;
  }
  return out;
}

TEST(SaveTimes, LeavesTheSharedCacheComplete) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("tenfold_times_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  BuildConfig config;
  config.timing_cache = (folder / "first").string();
  const ir::Graph graph = layers();
  build_graph(graph, config, "layers");
  const std::string first = read_file(config.timing_cache);
  for (unsigned seed = 0; seed < 8; ++seed) {
    config.timing_cache = (folder / std::to_string(seed)).string();
    bool saved = false;
    config.progress = [&](const Progress&) {   // another process saves while this one measures
      if (!std::exchange(saved, true)) write_file(config.timing_cache, other_times(first, seed));
      return true;
    };
    build_graph(graph, config, "layers");
    ASSERT_TRUE(saved);
    config.progress = nullptr, config.error_on_cache_miss = true;
    EXPECT_NO_THROW(build_graph(graph, config, "layers")) << seed;
    config.error_on_cache_miss = false;
  }
  std::filesystem::remove_all(folder);
}

// Of this model's nodes another's times say nothing: the graph is walked once, as if nobody had saved.
TEST(SaveTimes, OfOtherProblemsLeadNowhere) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("tenfold_others_" + std::to_string(::getpid()));
  BuildConfig config;
  config.timing_cache = path.string();
  const ir::Graph graph = layers();
  build_graph(graph, config, "layers");
  const std::string own = read_file(path.string());
  std::string others = own;
  for (std::size_t at = 0; (at = others.find("[2,8,14,14]", at)) != std::string::npos;) others.replace(at, 11, "[2,8,15,15]");
  ASSERT_NE(others, own);
  const auto walks = [&](const std::string& saved_meanwhile) {
    write_file(path.string(), own);
    int count = 0;
    config.progress = [&](const Progress& p) {
      if (p.phase == "tune" && p.done == 1 && count++ == 0) write_file(path.string(), saved_meanwhile);
      return true;
    };
    build_graph(graph, config, "layers");
    return count;
  };
  EXPECT_EQ(walks(own), 1);
  EXPECT_EQ(walks(others), 1);
  EXPECT_GT(walks(other_times(own, 0)), 1);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tenfold::builder
