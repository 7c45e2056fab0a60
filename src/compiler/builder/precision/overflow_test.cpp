// What f16 cannot hold is found before a graph is narrowed, on given values or random ones, and stays f32.
#include "builder/precision/overflow.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "builder/model/profiles.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "passes/pipeline.h"

namespace tenfold::builder {
namespace {

// The first Mul overflows; what reads it brings it back to ordinary size.
const char* const kGraph = R"((x f32[batch,8], w f32[8,8]!, u f32[8,4]!)
  s = f32[]{1e6}
  t = f32[]{1e-6}
  like = i64[2]{-1,8}
  a = MatMul(x, w)
  big = Mul(a, s)
  flat = Reshape(big, like)
  small = Mul(flat, t)
  y = MatMul(small, u))";

ir::Graph parse(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

struct Checked {
  std::string logged;
  BuildReport report;
  std::set<std::string> wide;
  ir::Graph narrowed;
};

Checked checked(const char* text, BuildConfig config, std::int64_t batch = 3) {
  Checked result{"", {}, {}, parse(text)};
  config.fp16 = true, config.tf32 = false;
  config.log = [&result](Severity, std::string_view line) { result.logged += std::string(line) + "\n"; };
  const std::vector<plan::Range> ranges{{"batch", 1, batch, batch}};
  const ir::Graph source = result.narrowed.clone();
  specialize(result.narrowed, ranges);
  result.wide = values_beyond_f16(source, result.narrowed, ranges, {config, specialize, {}, &result.report});
  backends::DeviceInfo gpu;
  gpu.kind = "cuda", gpu.arch = 90;
  passes::run(result.narrowed, passes::pipeline_for(gpu, config, {.quantized = false, .wide = result.wide}).precision);
  return result;
}

std::string types(const ir::Graph& graph, std::string_view op) {
  std::string all;
  for (const auto& n : graph.nodes())
    if (n->op() == op) all += cat(all.empty() ? "" : " ", name(n->in(0)->dtype()));
  return all;
}

TEST(Overflow, WhatIsTooLargeStaysWideAndIsNamed) {
  const Checked c = checked(kGraph, {});
  EXPECT_EQ(c.wide, (std::set<std::string>{"big", "flat"}));
  EXPECT_EQ(types(c.narrowed, "Mul"), "f32 f32");   // what makes it, and what reads it
  EXPECT_EQ(types(c.narrowed, "Reshape"), "f32");
  EXPECT_EQ(types(c.narrowed, "MatMul"), "f16 f16");
  EXPECT_NE(c.logged.find("(Mul, up to "), std::string::npos) << c.logged;
  EXPECT_NE(c.logged.find("on random inputs only"), std::string::npos) << c.logged;
  EXPECT_EQ(c.report.overflow_checked_on, CheckedOn::random_inputs);
  ASSERT_EQ(c.report.kept_in_f32.size(), 2u);
  EXPECT_EQ(c.report.kept_in_f32[0].op, "Mul");
  EXPECT_GT(c.report.kept_in_f32[0].largest, 65504 / 2);
}

TEST(Overflow, GivenInputsDecide) {
  const char* const mild = R"((x f32[batch,8])
    s = f32[]{100.0}
    y = Mul(x, s)
    z = Relu(y))";
  EXPECT_TRUE(checked(mild, {}).wide.empty());
  BuildConfig config;
  Tensor x = ops::random_tensor(DType::f32, {2, 8}, 1);
  config.typical_inputs = {{{"x", x}}};
  EXPECT_TRUE(checked(mild, config).wide.empty());
  x.mutable_data<float>()[5] = 1000;
  const Checked c = checked(mild, config);
  EXPECT_EQ(c.wide, (std::set<std::string>{"y", "z"}));
  EXPECT_EQ(c.logged.find("random"), std::string::npos) << c.logged;
  EXPECT_EQ(c.report.overflow_checked_on, CheckedOn::typical_inputs);
}

TEST(Overflow, OfALargeBatchTheFirstExamplesAreTried) {
  const char* const mild = R"((x f32[batch,8])
    s = f32[]{100.0}
    y = Mul(x, s))";
  Tensor x = ops::random_tensor(DType::f32, {6, 8}, 1);
  BuildConfig config;
  for (const std::size_t row : {5u, 3u}) {
    x.mutable_data<float>()[row * 8] = 1000;
    config.typical_inputs = {{{"x", x}}};
    EXPECT_EQ(checked(mild, config, 6).wide.empty(), row == 5) << row;
  }
}

// As an import makes it where all profiles fix the batch.
TEST(Overflow, OfAFixedBatchToo) {
  const char* const fixed = R"((x f32[6,8])
    s = f32[]{100.0}
    y = Mul(x, s))";
  const char* const open = R"((x f32[batch,8])
    s = f32[]{100.0}
    y = Mul(x, s))";
  Tensor x = ops::random_tensor(DType::f32, {6, 8}, 1);
  BuildConfig config;
  const ir::Graph source = parse(fixed);
  OverflowCheck check{.config = config, .rewrite = specialize, .open = {}, .report = nullptr};
  for (const std::size_t row : {5u, 3u}) {
    x.mutable_data<float>()[row * 8] = 1000;
    config.typical_inputs = {{{"x", x}}};
    check.open = {};
    EXPECT_EQ(values_beyond_f16(source, source, {}, check), std::set<std::string>{"y"}) << row;
    check.open = [&] { return std::pair(parse(open), std::vector<plan::Range>{{"batch", 6, 6, 6}}); };
    EXPECT_EQ(values_beyond_f16(source, source, {}, check).empty(), row == 5) << row;
    check.open = []() -> std::pair<ir::Graph, std::vector<plan::Range>> { throw Error(ErrorKind::invalid_argument, "branches"); };
    EXPECT_EQ(values_beyond_f16(source, source, {}, check), std::set<std::string>{"y"}) << row;
  }
}

// The caller's inputs say the same for every profile of a build.
TEST(Overflow, AnotherProfileRunsNothingAgain) {
  const ir::Graph source = parse(R"((x f32[6,8])
    s = f32[]{100.0}
    y = Mul(x, s))");
  Tensor x = ops::random_tensor(DType::f32, {6, 8}, 1);
  x.mutable_data<float>()[0] = 1000;
  BuildConfig config;
  int opened = 0;
  std::optional<std::map<std::string, double>> known;
  OverflowCheck check{.config = config, .rewrite = specialize, .open = {}, .report = nullptr, .known = &known};
  check.open = [&] {
    ++opened;
    return std::pair(parse("(x f32[batch,8])\n s = f32[]{100.0}\n y = Mul(x, s)"), std::vector<plan::Range>{{"batch", 6, 6, 6}});
  };
  for (const int runs : {1, 2}) {   // at random each profile has its own
    EXPECT_TRUE(values_beyond_f16(source, source, {}, check).empty());
    EXPECT_EQ(opened, runs);
  }
  config.typical_inputs = {{{"x", x}}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(values_beyond_f16(source, source, {}, check), std::set<std::string>{"y"});
    EXPECT_EQ(opened, 3);
  }
}

TEST(Overflow, InfinitiesOfTheModelAreNoReason) {
  const Checked c = checked(R"((x f32[batch,8])
    s = f32[]{0.0}
    y = Div(x, s)
    z = Relu(y))", {});
  EXPECT_TRUE(c.wide.empty());
  EXPECT_NE(c.logged.find("no value came near 65504"), std::string::npos) << c.logged;
}

TEST(Overflow, ARunThatFailsIsTold) {
  const Checked c = checked(R"((x f32[batch,8], i i64[2], w f32[1,4]!)
    s = Gather(w, i) axis=0
    y = ReduceSum(x) keepdims=0)", {});
  EXPECT_TRUE(c.wide.empty());
  EXPECT_NE(c.logged.find("is not known"), std::string::npos) << c.logged;
}

TEST(Overflow, IsRememberedBesideTheTimingCache) {
  const std::string cache = (std::filesystem::temp_directory_path() / cat("tenfold_overflow_", ::getpid(), ".cache")).string();
  BuildConfig config;
  config.timing_cache = cache;
  const std::set<std::string> first = checked(kGraph, config).wide;
  // A time long past, for a clock of files may not tick between two questions.
  const auto made = std::filesystem::last_write_time(cache + ".ranges") - std::chrono::hours(1);
  std::filesystem::last_write_time(cache + ".ranges", made);
  EXPECT_EQ(checked(kGraph, config).wide, first);
  EXPECT_EQ(std::filesystem::last_write_time(cache + ".ranges"), made);
  EXPECT_EQ(checked(kGraph, config, 2).wide, first);   // another question: asked again
  EXPECT_NE(std::filesystem::last_write_time(cache + ".ranges"), made);
  std::filesystem::remove(cache + ".ranges");
}

}  // namespace
}  // namespace tenfold::builder
