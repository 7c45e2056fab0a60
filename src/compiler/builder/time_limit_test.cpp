// Builds that take longer than they may: each stage can end them, in words, and nothing of a plan is left.
#include "builder/time_limit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "builder/builder.h"
#include "ir/op_def.h"
#include "ir/text.h"
#include "tenfold/error.h"

namespace tenfold {
namespace {

using namespace std::chrono_literals;

ir::Graph products() {
  return ir::parse_graph("(x f32[4,64], w f32[64,64])\n a = MatMul(x, w)\n b = Softmax(a) axis=-1\n y = MatMul(b, w)\n return y",
                         ir::Registry::builtin());
}

std::string refusal(const BuildConfig& config, ErrorKind kind) {
  try {
    builder::build_graph(products(), config);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "it was built";
  return "";
}

TEST(TimeLimit, NamesTheStageAndWhatToDo) {
  BuildConfig config;
  config.time_limit_s = 1e-9;
  const std::string why = refusal(config, ErrorKind::cancelled);
  const char* const words = "longer than its limit of 1e-09 s (time_limit_s, --buildTimeout) and was ended while reading the model";
  EXPECT_NE(why.find(words), std::string::npos) << why;
  EXPECT_NE(why.find("raise the limit"), std::string::npos) << why;
}

// The clock runs out in the middle of a stage: while a pass is told of, and while candidates are timed.
TEST(TimeLimit, EndsPassesAndTuning) {
  BuildConfig config;
  config.time_limit_s = 0.3;
  config.dump = [](std::string_view, std::string_view) { std::this_thread::sleep_for(400ms); };
  const std::string in_pass = refusal(config, ErrorKind::cancelled);
  EXPECT_NE(in_pass.find("while rewriting the graph"), std::string::npos) << in_pass;
  config.dump = nullptr;
  config.progress = [](const Progress&) { return std::this_thread::sleep_for(400ms), true; };
  const std::string in_tuner = refusal(config, ErrorKind::cancelled);
  EXPECT_NE(in_tuner.find("while tuning"), std::string::npos) << in_tuner;
}

TEST(TimeLimit, IsNoneOrEnough) {
  for (const double seconds : {0.0, 1e4, 1e300, HUGE_VAL}) {
    BuildConfig config;
    config.optimization_level = 0, config.time_limit_s = seconds;
    EXPECT_NO_THROW(builder::build_graph(products(), config)) << seconds;
  }
  for (const double seconds : {-1.0, -1e-9, std::nan("")}) {
    BuildConfig config;
    config.time_limit_s = seconds;
    EXPECT_NE(refusal(config, ErrorKind::invalid_argument).find("time_limit_s is"), std::string::npos);
  }
  EXPECT_EQ(who_ends_work(), nullptr);   // no limit stays behind
}

TEST(TimeLimit, HoldsForRetuning) {
  BuildConfig config;
  config.optimization_level = 0;
  const Engine engine = builder::build_graph(products(), config);
  config.time_limit_s = 1e-9;
  try {
    retune(engine, config);
    ADD_FAILURE() << "it was tuned";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::cancelled) << e.what();
  }
}

}  // namespace
}  // namespace tenfold
