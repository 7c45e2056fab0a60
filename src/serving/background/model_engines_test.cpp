// Engines for the shapes that come: which one is given, what takes its place, what is told.
#include <atomic>
#include <thread>

#include "background/background_for_tests.h"

namespace tenfold {
namespace {

using namespace background;
using namespace std::chrono_literals;

TEST(ModelEngines, UntimedFirstThenATunedOneForTheRangeAround) {
  Lines lines;
  ModelEngines engines(tanh_model(), quick(Tune::background, &lines));
  const ServedEngine first = served(engines, 3);
  EXPECT_FALSE(first.tuned || first.settled);
  EXPECT_LT(distance(first.engine, 3), kNear);
  const auto kept = first.engine.create_context();
  ASSERT_TRUE(engines.wait(120s)) << lines.text();
  const ServedEngine second = served(engines, 3);
  EXPECT_TRUE(second.tuned && second.settled) << lines.text();
  EXPECT_NE(second.number, first.number);
  EXPECT_LT(distance(second.engine, 3), kNear);
  EXPECT_LT(distance(first.engine, 3), kNear) << "who has the old one keeps it";
  EXPECT_EQ(served(engines, 4).number, second.number) << "4 lies in the range around 3";
  EXPECT_EQ(served(engines, 2).number, second.number);
  EXPECT_LT(distance(second.engine, 2), kNear);
  const auto profile = second.engine.profile_shapes(0, "x");
  EXPECT_EQ(profile.min, (Shape{2, kIn}));
  EXPECT_EQ(profile.opt, (Shape{3, kIn}));
  EXPECT_EQ(profile.max, (Shape{4, kIn}));
  EXPECT_EQ(lines.count("last bits"), 1) << lines.text();
  EXPECT_EQ(lines.count("in a thread of this process"), 0) << lines.text();

  EXPECT_FALSE(served(engines, 9).tuned);
  ASSERT_TRUE(engines.wait(120s));
  EXPECT_TRUE(served(engines, 12).tuned);
  EXPECT_LT(distance(served(engines, 12).engine, 12), kNear);
  EXPECT_EQ(lines.count("last bits"), 1) << "told once: " << lines.text();
  EXPECT_EQ(lines.count("has taken the place", Severity::info), 2) << lines.text();
  EXPECT_FALSE(has_children());
}

TEST(ModelEngines, OtherShapesOfARangeShareAnUntimedEngine) {
  const Folder folder;
  ModelEnginesOptions options = quick(Tune::background);
  options.tuner = folder.program("exec sleep 600");
  ModelEngines engines(tanh_model(), options);
  const std::uint64_t exact = served(engines, 5).number, range = served(engines, 6).number;
  EXPECT_NE(exact, range);
  for (const std::int64_t rows : {4, 5, 6, 7, 8}) {
    const ServedEngine engine = served(engines, rows);
    EXPECT_EQ(engine.number, range) << rows;
    EXPECT_LT(distance(engine.engine, rows), kNear) << rows;
  }
  const auto all = engines.served();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].shapes.at("x").max, (Shape{8, kIn}));
  EXPECT_TRUE(all[0].pending && !all[0].tuned && all[0].failure.empty());
  EXPECT_EQ(all[0].requests, 7);
}

TEST(ModelEngines, MayGoInTheFunctionThatTheirWorkCalls) {
  const Folder folder;
  std::unique_ptr<ModelEngines> engines;
  std::mutex given;
  std::atomic<bool> gone = false;
  ModelEnginesOptions options = quick(Tune::background);
  options.tuner = folder.program("exit 3");
  options.build.log = [&](Severity, std::string_view text) {
    if (text.find("no tuned plan") == text.npos) return;
    const std::lock_guard lock(given);
    engines = nullptr;
    gone = true;
  };
  {
    const std::lock_guard lock(given);
    engines = std::make_unique<ModelEngines>(tanh_model(), options);
    EXPECT_LT(distance(served(*engines, 3).engine, 3), kNear);
  }
  for (int i = 0; i < 3000 && !gone; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(gone);
  ModelEngines others(tanh_model(), quick(Tune::background));
  served(others, 3);
  EXPECT_TRUE(others.wait(120s)) << "the worker goes on";
  EXPECT_TRUE(served(others, 3).tuned);
}

TEST(ModelEngines, FunctionsThatThrowInTheWorkerEndNothing) {
  const Folder folder;
  for (const std::string& tuner : {std::string(TENFOLD_PROGRAM), folder.program("exit 3")}) {
    std::atomic<int> thrown = 0;
    ModelEnginesOptions options = quick(Tune::background);
    options.tuner = tuner;
    options.build.log = [&](Severity, std::string_view text) {
      if (text.find("has taken the place") == text.npos && text.find("no tuned plan") == text.npos) return;
      ++thrown;
      throw 1;
    };
    ModelEngines engines(tanh_model(), options);
    served(engines, 3);
    ASSERT_TRUE(engines.wait(120s));
    EXPECT_EQ(thrown, 1);
    EXPECT_EQ(served(engines, 3).tuned, tuner == TENFOLD_PROGRAM);
    EXPECT_EQ(engines.served().at(0).failure.empty(), tuner == TENFOLD_PROGRAM) << engines.served().at(0).failure;
  }
}

TEST(ModelEngines, WhatCannotBeBuiltForRangesIsTunedForShapes) {
  Lines lines;
  ModelEnginesOptions options = quick(Tune::background, &lines);
  options.build.choose_tactic = [](const TacticQuestion& question) -> int {
    const bool range = question.problem.find("f32[3,") == std::string::npos;
    if (range) throw Error(ErrorKind::unsupported, "only for 3 rows");
    return 0;
  };
  ModelEngines engines(tanh_model(), options);
  served(engines, 3);
  ASSERT_TRUE(engines.wait(120s)) << lines.text();
  EXPECT_TRUE(served(engines, 3).tuned) << lines.text();
  EXPECT_EQ(served(engines, 3).engine.profile_shapes(0, "x").max, (Shape{3, kIn}));
  EXPECT_EQ(lines.count("cannot be built for ranges of shapes"), 1) << lines.text();
}

TEST(ModelEngines, NowAndNeverBuildForTheVeryShapesAndStartNothing) {
  const int threads = threads_of_process();
  for (const Tune tune : {Tune::now, Tune::never}) {
    ModelEngines engines(tanh_model(), quick(tune));
    const ServedEngine three = served(engines, 3), four = served(engines, 4);
    EXPECT_NE(three.number, four.number);
    EXPECT_EQ(served(engines, 3).number, three.number);
    EXPECT_EQ(three.tuned, tune == Tune::now);
    EXPECT_TRUE(three.settled);
    EXPECT_EQ(three.engine.profile_shapes(0, "x").max, (Shape{3, kIn}));
    EXPECT_LT(distance(four.engine, 4), kNear);
    EXPECT_EQ(engines.any_engine().number, three.number) << "the one used last";
    EXPECT_TRUE(engines.wait(0s));
  }
  ModelEngines engines(tanh_model(), quick(Tune::background));
  EXPECT_EQ(engines.open_inputs(), std::vector<int>{0});
  EXPECT_LE(threads_of_process(), threads) << "but for what earlier tests leave, which may be ending";
  EXPECT_FALSE(has_children());
}

TEST(ModelEngines, TheNextProcessFindsTheTunedPlanAtOnce) {
  const Folder folder;
  ModelEnginesOptions options = quick(Tune::background);
  options.cache.emplace(PlanCacheOptions{.folder = folder.path.string()});
  const auto plans = [&] {
    int n = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path)) n += file.path().extension() == ".plan";
    return n;
  };
  {
    ModelEngines engines(tanh_model(), options);
    EXPECT_FALSE(served(engines, 3).tuned);
    EXPECT_EQ(plans(), 0) << "untimed plans are not kept";
    ASSERT_TRUE(engines.wait(120s));
    EXPECT_EQ(plans(), 1);
  }
  options.tuner = "/no/such/program";
  {
    ModelEngines engines(tanh_model(), options);
    const ServedEngine found = served(engines, 4);
    EXPECT_FALSE(found.tuned) << "4 alone is another range than 2 to 4";
  }
  ModelEngines engines(tanh_model(), options);
  const ServedEngine found = served(engines, 3);
  EXPECT_TRUE(found.tuned && found.settled);
  EXPECT_LT(distance(found.engine, 3), kNear);
  EXPECT_EQ(served(engines, 4).number, found.number);
  options.build.fast_exp = false;
  ModelEngines others(tanh_model(), options);
  EXPECT_FALSE(served(others, 3).tuned) << "another option is another plan";
}

TEST(ModelEngines, TheOneUsedLongestAgoGoes) {
  ModelEnginesOptions options = quick(Tune::never);
  options.max_engines = 2;
  ModelEngines engines(tanh_model(), options);
  const std::uint64_t three = served(engines, 3).number, four = served(engines, 4).number;
  EXPECT_EQ(served(engines, 3).number, three);
  served(engines, 5);
  EXPECT_EQ(served(engines, 3).number, three);
  EXPECT_NE(served(engines, 4).number, four) << "built anew";
  EXPECT_EQ(engines.served().size(), 2u);
}

TEST(ModelEngines, ProfilesThatAreGivenMakeOneEngine) {
  ModelEnginesOptions options = quick(Tune::background);
  options.build.profiles = {{{"x", {{1, kIn}, {2, kIn}, {8, kIn}}}}};
  ModelEngines engines(tanh_model(), options);
  EXPECT_TRUE(engines.open_inputs().empty());
  EXPECT_LT(distance(served(engines, 3).engine, 3), kNear);
  ASSERT_TRUE(engines.wait(120s));
  const ServedEngine tuned = engines.any_engine();
  EXPECT_TRUE(tuned.tuned && tuned.settled);
  EXPECT_EQ(tuned.engine.profile_shapes(0, "x").max, (Shape{8, kIn}));
  EXPECT_LT(distance(tuned.engine, 8), kNear);
}

TEST(ModelEngines, ManyThreadsGetRightAnswersBeforeAndAfter) {
  Lines lines;
  ModelEngines engines(tanh_model(), quick(Tune::background, &lines));
  std::atomic<int> wrong = 0, tuned = 0;
  const auto until = std::chrono::steady_clock::now() + 100s;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200 || (tuned < 8 && std::chrono::steady_clock::now() < until); ++i) {
        const std::int64_t rows = 1 + (t + i) % 8;
        const ServedEngine found = served(engines, rows);
        wrong += !(distance(found.engine, rows) < kNear);
        if (i == 199) {
          engines.wait(100s);
          ++tuned;
        }
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  for (const ServedShapes& s : engines.served()) EXPECT_TRUE(s.tuned && !s.pending) << lines.text();
  EXPECT_EQ(lines.count("last bits"), 1) << lines.text();
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(name(error.kind()), "invalid_argument") << error.what();
    return error.what();
  }
  return "nothing was refused";
}

TEST(ModelEngines, RefusesWhatDoesNotFitAndSaysWhat) {
  ModelEngines engines(tanh_model(), quick(Tune::never));
  EXPECT_EQ(refusal([&] { engines.engine_for({{"x", {3, 5}}}); }), "input 'x' has the shape [any, 6], [3x5] is given");
  EXPECT_EQ(refusal([&] { engines.engine_for({{"x", {3}}}); }), "input 'x' has the shape [any, 6], [3] is given");
  EXPECT_EQ(refusal([&] { engines.engine_for({{"y", {3}}}); }), "input 'x' is missing: no shape is given for it");
  EXPECT_NE(refusal([&] { engines.engine_for(std::vector<Shape>{}); }).find("0 shapes are given"), std::string::npos);
  EXPECT_FALSE(engines.find(std::vector<Shape>{}).has_value());
  EXPECT_FALSE(engines.find(std::vector<Shape>{{3}}).has_value());
  ModelEnginesOptions none = quick(Tune::never);
  none.max_engines = 0;
  EXPECT_EQ(refusal([&] { ModelEngines made(tanh_model(), none); }), "max_engines is 0, expected 1 or more");
  EXPECT_THROW(ModelEngines("/no/such.onnx", quick(Tune::never)), Error);
}

}  // namespace
}  // namespace tenfold
