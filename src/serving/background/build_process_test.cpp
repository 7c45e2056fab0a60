// The process that tunes: what becomes of it, and of its answers, when things go wrong.
#include "background/build_process.h"

#include <signal.h>

#include <thread>

#include "background/background_for_tests.h"
#include "tenfold/internal/processor_slice.h"
#include "tenfold/plugin.h"

namespace tenfold {
namespace {

using namespace background;
using namespace std::chrono_literals;

struct Failed {
  const char* what;
  std::string program;
  const char* reported;
};

// A server's threads ask for a slice, and must not win priority by it.
TEST(ProcessorSlice, KeepsOrLowersPriority) {
  const int own = std::min(::getpriority(PRIO_PROCESS, 0) + 3, 19);
  int kept = 0, lowered = 0;
  std::thread([&] {
    ASSERT_EQ(::setpriority(PRIO_PROCESS, 0, own), 0);   // of this thread alone
    EXPECT_TRUE(set_processor_slice(0, kShortSlice));
    kept = ::getpriority(PRIO_PROCESS, 0);
    EXPECT_TRUE(set_processor_slice(0, kLongSlice, 10));
    lowered = ::getpriority(PRIO_PROCESS, 0);
  }).join();
  EXPECT_EQ(kept, own);
  EXPECT_EQ(lowered, std::max(own, 10));
}

TEST(ProcessorSlice, LeavesAPolicyThatTheUserChose) {
  bool taken = true;
  int policy = -1;
  std::thread([&] {
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_BATCH, &none), 0);   // of this thread alone
    taken = set_processor_slice(0, kShortSlice);
    policy = ::sched_getscheduler(0);
  }).join();
  EXPECT_FALSE(taken);
  EXPECT_EQ(policy, SCHED_BATCH);
}

TEST(BuildProcess, ThatFailsIsToldOnceAndTheUntimedEngineStays) {
  const Folder folder;
  const Failed cases[] = {
      {"ends with a code", folder.program("echo out of luck >&2; exit 3"),
       "ended with code 3, having written: out of luck"},
      {"is killed", folder.program("kill -9 $$"), "was ended by signal 9 (Killed)"},
      {"says it is done, and wrote nothing", folder.program("printf '\\001D0\\n'"), "plan"},
      {"is no program", (folder.path / "nothing").string(), "cannot start '"},
      {"is another program", "/bin/true", "ended with code 0"},
      {"tells an error", folder.program("printf '\\001E6no such model\\vreally\\n'"), "no such model\nreally"},
  };
  for (const Failed& c : cases) {
    SCOPED_TRACE(c.what);
    Lines lines;
    ModelEnginesOptions options = quick(Tune::background, &lines);
    options.tuner = c.program;
    ModelEngines engines(tanh_model(), options);
    for (const std::int64_t rows : {3, 9, 17}) {
      served(engines, rows);
      ASSERT_TRUE(engines.wait(60s));
      const ServedEngine stays = served(engines, rows);
      EXPECT_FALSE(stays.tuned);
      EXPECT_TRUE(stays.settled);
      EXPECT_LT(distance(stays.engine, rows), kNear);
    }
    EXPECT_EQ(lines.count("no tuned plan could be made"), 1) << lines.text();
    EXPECT_EQ(lines.count(c.reported), 1) << lines.text();
    for (const ServedShapes& s : engines.served()) EXPECT_NE(s.failure.find(c.reported), std::string::npos) << s.failure;
    EXPECT_FALSE(has_children());
  }
}

TEST(BuildProcess, IsEndedWithTheEnginesThatItWorksFor) {
  const Folder folder;
  ModelEnginesOptions options = quick(Tune::background);
  const std::filesystem::path begun = folder.path / "begun";
  options.tuner = folder.program("echo $$ > " + begun.string() + "; exec sleep 600");
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  {
    ModelEngines engines(tanh_model(), options), others(tanh_model(), options);
    served(engines, 3), served(others, 3);
    while (!std::filesystem::exists(begun) || std::filesystem::file_size(begun) == 0) std::this_thread::sleep_for(5ms);
    std::ifstream(begun) >> child;
    EXPECT_EQ(::kill(child, 0), 0);
    EXPECT_FALSE(engines.wait(1ms));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
  EXPECT_EQ(::kill(child, 0), -1) << "it is gone";
  EXPECT_FALSE(has_children()) << "and nobody has to wait for it";
}

TEST(BuildProcess, IsRefusedWhatItWouldBuildFromSomethingElse) {
  const std::vector<std::byte> model = tanh_model();
  BuildRequest request;
  request.config.optimization_level = 0, request.config.threads = 1;
  request.config.profiles = {{{"x", {{1, kIn}, {2, kIn}, {4, kIn}}}}};
  request.key = plan_key(model, request.config);
  EXPECT_LT(distance(build_in_process(TENFOLD_PROGRAM, request, model, {.threads = 1}), 4), kNear);
  request.config.strassen = false;
  try {
    build_in_process(TENFOLD_PROGRAM, request, model, {.threads = 1});
    ADD_FAILURE() << "another configuration than that of the key was built";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'strassen 0' here, 'strassen 1' where it was asked for"),
              std::string::npos)
        << error.what();
  }
}

TEST(BuildProcess, GoesToAThreadWhereTheOptionsAreOfThisProcess) {
  Lines lines;
  ModelEnginesOptions options = quick(Tune::background, &lines);
  std::atomic<int> calls = 0;
  options.build.choose_tactic = [&](const TacticQuestion&) { return ++calls, 0; };
  options.tuner = "/no/such/program";
  ModelEngines engines(tanh_model(), options);
  served(engines, 3);
  ASSERT_TRUE(engines.wait(120s));
  const int before = calls;
  EXPECT_GT(before, 0);
  EXPECT_TRUE(served(engines, 3).tuned) << lines.text();
  EXPECT_LT(distance(served(engines, 4).engine, 4), kNear);
  EXPECT_EQ(
      lines.count("in a thread of this process, not in another one: choose_tactic() is a function of this process"), 1)
      << lines.text();
}

TEST(BuildProcess, ServesCallersWhoWaitAndHearOfProgress) {
  const Folder folder;
  Lines lines;
  ModelEnginesOptions options = quick(Tune::now, &lines);
  options.isolate_builds = true, options.cache = PlanCache({.folder = (folder.path / "plans").string()});
  int steps = 0, total = 0;
  BuildWatch watch;
  watch.progress = [&](const Progress& step) {
    ++steps, total = step.total;
    EXPECT_LE(step.done, total);
    EXPECT_FALSE(step.phase.empty());
    return true;
  };
  const std::map<std::string, Shape> shapes = {{"x", {3, kIn}}};
  {
    ModelEngines engines(tanh_model(), options);
    const ServedEngine engine = engines.engine_for(shapes, watch);
    EXPECT_TRUE(engine.tuned);
    EXPECT_LT(distance(engine.engine, 3), kNear);
    EXPECT_GT(steps, 0);
    EXPECT_GT(total, 0);
    EXPECT_EQ(engines.builds().built, 1);
  }
  options.tuner = "/no/such/program";   // the second start builds nothing
  ModelEngines engines(tanh_model(), options);
  EXPECT_LT(distance(served(engines, 3).engine, 3), kNear);
  EXPECT_EQ(engines.builds().built, 0);
  EXPECT_EQ(engines.builds().cached, 1);
  EXPECT_EQ(lines.count("in this process"), 0) << lines.text();
}

TEST(BuildProcess, ThatDiesIsAnErrorOfWhoWaits) {
  const Folder folder;
  ModelEnginesOptions options = quick(Tune::now);
  options.isolate_builds = true, options.tuner = folder.program("kill -9 $$");
  ModelEngines engines(tanh_model(), options);
  for (int again = 0; again < 2; ++again) try {
      served(engines, 3);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_NE(std::string(error.what()).find("was ended by signal 9 (Killed)"), std::string::npos) << error.what();
    }
  EXPECT_FALSE(has_children());
}

TEST(BuildProcess, EndsWhenWhoWaitsWantsNoMore) {
  ModelEnginesOptions options = quick(Tune::now);
  options.isolate_builds = true;
  ModelEngines engines(tanh_model(), options);
  try {
    BuildWatch watch;
    watch.progress = [](const Progress&) { return false; };
    engines.engine_for(std::map<std::string, Shape>{{"x", {3, kIn}}}, watch);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled) << error.what();
  }
  EXPECT_FALSE(has_children());
}

double snake_distance(const Engine& engine, std::int64_t rows) {
  Tensor x(DType::f32, {rows, 4});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i - 5) / 3;
  const Tensor y = engine.create_context()->run({x}).at(0);
  double worst = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double v = x.as_double(i), s = std::sin(0.5 * v);
    worst = std::max(worst, std::abs(v + s * s / 0.5 - y.as_double(i)));
  }
  return worst;
}

TEST(BuildProcess, HasTheLibrariesOfPlugInsAndNotWhatIsOfThisProcess) {
  class Mine : public PluginGraph {
   public:
    PluginInfo info() const override { return {.domain = "com.example", .name = "Unused", .since = 1, .attributes = {}}; }
      std::string expand(const NetworkAttributes&, std::span<const PluginType>) const override { return "y = Relu(in0)\n return y"; }
  };
  for (const bool of_this_process : {false, true}) {
    Lines lines;
    ModelEnginesOptions options = quick(Tune::background, &lines);
    const auto plugins = std::make_shared<Plugins>();
    plugins->load(TENFOLD_PLUGIN_SNAKE);
    if (of_this_process) plugins->add(std::make_shared<Mine>());
    options.build.plugins = plugins;
    ModelEngines engines(TENFOLD_SOURCE_DIR "/examples/snake.onnx", options);
    EXPECT_LT(snake_distance(engines.engine_for({{"x", {3, 4}}}).engine, 3), kNear);
    ASSERT_TRUE(engines.wait(120s));
    const ServedEngine tuned = engines.engine_for({{"x", {4, 4}}});
    EXPECT_TRUE(tuned.tuned) << lines.text();
    EXPECT_LT(snake_distance(tuned.engine, 4), kNear);
    EXPECT_EQ(lines.count("it has plug-ins of this process, which no library gave"), of_this_process) << lines.text();
  }
}

TEST(BuildProcess, AForkHasTheEnginesAndTunesForItself) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends forked processes that start threads";
#endif
  const Folder folder;
  ModelEnginesOptions options = quick(Tune::background);
  const std::filesystem::path begun = folder.path / "begun", go = folder.path / "go";
  options.tuner = folder.program("echo $$ >> " + begun.string() + "; while [ ! -e " + go.string() +
                                 " ]; do sleep 0.05; done; exec " TENFOLD_PROGRAM " \"$@\"");
  const auto lines = [&] {
    std::ifstream in(begun);
    int n = 0;
    for (std::string line; std::getline(in, line);) ++n;
    return n;
  };
  ModelEngines engines(tanh_model(), options);
  const std::uint64_t number = served(engines, 3).number;
  while (lines() < 1) std::this_thread::sleep_for(5ms);
  const pid_t child = ::fork();
  if (child == 0) {
    bool right = served(engines, 3).number == number && distance(served(engines, 3).engine, 3) < kNear;
    for (int i = 0; i < 2000 && lines() < 2; ++i) std::this_thread::sleep_for(5ms);  // a program of its own
    std::ofstream(go) << "go";
    right = right && lines() == 2 && engines.wait(120s) && served(engines, 3).tuned &&
            distance(served(engines, 3).engine, 3) < kNear;
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::ofstream(go) << "go";
  ASSERT_TRUE(engines.wait(120s)) << "the parent's program goes on, whatever the child does";
  EXPECT_TRUE(served(engines, 3).tuned);
}

}  // namespace
}  // namespace tenfold
