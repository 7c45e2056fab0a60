// Plans as bytes and through callbacks, with labels, in a cache and on a fallback chain; times that builds share.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "api_build/network_for_tests.h"
#include "tenfold/inspect.h"
#include "tenfold/fallback_chain.h"
#include "tenfold/plan_cache.h"
#include "tenfold/timing_cache.h"

namespace tenfold {
namespace {

namespace fs = std::filesystem;

const std::string kRelu = TENFOLD_SOURCE_DIR "/tests/install/relu.onnx";

BuildConfig plain() {
  BuildConfig config;
  config.threads = 1, config.optimization_level = 0;
  return config;
}
void expect_relu(const Engine& engine) {
  expect_values(engine.create_context()->run({floats({3}, {-1, 0, 2})})[0], {3}, {0, 0, 2});
}
ErrorKind kind_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    return e.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::internal;
}

class Folder {
 public:
  Folder() : path(testing::TempDir() + "tenfold_plans_" + std::to_string(::getpid()) + "_" +
                  testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

TEST(PlanBytes, AreTheSameByEveryWay) {
  BuildConfig config = plain();
  config.labels = {{"who", "a test"}, {"", "an empty key"}};
  const Engine engine = build_file(kRelu, config);
  const std::vector<std::byte> bytes = engine.serialize();
  std::vector<std::byte> pieces;
  engine.save([&](std::span<const std::byte> piece) { pieces.insert(pieces.end(), piece.begin(), piece.end()); });
  EXPECT_EQ(bytes, pieces);
  const Engine copied = Engine::load(bytes);
  EXPECT_EQ(copied.labels(), config.labels);
  expect_relu(copied);
  std::uint64_t requested = 0;
  const auto read = [&](std::uint64_t offset, std::span<std::byte> to) {
    ASSERT_EQ(offset, requested);
    requested += to.size();
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
  };
  const Engine loaded = Engine::load(PlanReader{bytes.size(), read});
  EXPECT_EQ(requested, bytes.size()) << "each byte is read once";
  EXPECT_EQ(loaded.serialize(), bytes);
  expect_relu(loaded);
}

TEST(PlanBytes, CallbacksMayFail) {
  const Engine engine = build_file(kRelu, plain());
  const auto stop = [](auto&&...) { throw Error(ErrorKind::io, "the line is dead"); };
  EXPECT_EQ(kind_of([&] { engine.save(PlanWriter(stop)); }), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { Engine::load(PlanReader{100, stop}); }), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { Engine::load(PlanReader{100, nullptr}); }), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of([&] { Engine::load(PlanReader{0, [](auto, auto) {}}); }), ErrorKind::plan_refused);
  EXPECT_EQ(kind_of([&] { Engine::load(PlanReader{100, [](auto, auto) {}}); }), ErrorKind::plan_refused) << "zeros";
}

TEST(Inspection, SaysWhatTheTextSays) {
  const Engine engine = build_file(kRelu, plain());
  const PlanInspection data = engine.inspection();
  const std::string text = engine.inspect(1);
  ASSERT_EQ(data.programs.size(), 1u);
  EXPECT_EQ(data.model_name, "relu");
  EXPECT_EQ(static_cast<int>(data.programs[0].steps.size()), engine.info().steps);
  for (const PlanStep& step : data.programs[0].steps) {
    EXPECT_NE(text.find(step.name), std::string::npos);
    EXPECT_NE(text.find(step.tactic), std::string::npos);
    for (const auto* list : {&step.inputs, &step.outputs})
      for (const PlanOperand& o : *list) {
        EXPECT_EQ(o.shape, Shape{3});
        EXPECT_NE(text.find(o.place), std::string::npos);
      }
  }
}

TEST(ChooseTactic, TheCallersChoiceIsInThePlan) {
  BuildConfig config = plain();
  config.optimization_level = 2;
  for (const bool last : {false, true}) {
    std::map<std::string, std::string> expected;
    config.choose_tactic = [&](const TacticQuestion& q) {
      const std::size_t i = last ? q.candidates.size() - 1 : 0;
      EXPECT_GT(q.candidates[i].nanoseconds, 0);
      expected[std::string(q.node)] = q.candidates[i].tactic;
      return static_cast<int>(i);
    };
    const Engine engine = build_file(kRelu, config);
    const PlanInspection plan = engine.inspection();
    for (const PlanStep& step : plan.programs[0].steps) {
      if (const auto it = expected.find(step.name); it != expected.end()) {
        EXPECT_EQ(step.tactic, it->second);
      }
    }
    EXPECT_FALSE(expected.empty());
    expect_relu(engine);
  }
  config.choose_tactic = [](const TacticQuestion&) { return 1000; };
  EXPECT_EQ(kind_of([&] { build_file(kRelu, config); }), ErrorKind::invalid_argument);
}

TEST(ForcedTactics, ThatHaveNoEffectAreNoted) {
  const auto notes = [](std::map<std::string, std::string> forced) {
    BuildConfig config = plain();
    config.forced_tactics = std::move(forced);
    const Engine engine = build_file(kRelu, config);
    std::string all;
    for (const Note& note : engine.info().notes) all += note.text + "\n";
    return all;
  };
  EXPECT_EQ(notes({}).find("forced_tactics"), std::string::npos);
  const std::string misspelt = notes({{"Rellu", "reference"}});
  EXPECT_NE(misspelt.find("forced_tactics: 'Rellu' -> 'reference' has no effect: no problem"), std::string::npos) << misspelt;
  EXPECT_EQ(notes({{"Relu", "reference"}}).find("forced_tactics"), std::string::npos);
  EXPECT_NE(notes({{"R", "no_such"}}).find("'R' -> 'no_such' has no effect: there is no such tactic"), std::string::npos);
  BuildReport report;
  build_file(kRelu, plain(), &report);
  ASSERT_FALSE(report.steps.empty());
  const StepReport& step = report.steps[0];
  const auto ran = std::find_if(step.tried.begin(), step.tried.end(), [](const TacticReport& t) { return t.nanoseconds >= 0; });
  ASSERT_NE(ran, step.tried.end());
  EXPECT_EQ(notes({{step.problem.substr(0, 1), ran->tactic}}).find("forced_tactics"), std::string::npos) << ran->tactic;
}

TEST(TimingCache, IsSharedByBuilds) {
  BuildConfig config = plain();
  config.optimization_level = 2;
  config.timings = std::make_shared<TimingCache>();
  BuildReport first, second;
  build_file(kRelu, config, &first);
  EXPECT_GT(first.timed, 0);
  EXPECT_GT(config.timings->size(), 0u);
  build_file(kRelu, config, &second);
  EXPECT_EQ(second.timed, 0);
  EXPECT_GT(second.cache_hits, 0);
  const std::vector<std::string> keys = config.timings->keys();
  ASSERT_FALSE(keys.empty());
  EXPECT_LE(keys.size(), config.timings->size());
  EXPECT_TRUE(keys[0].starts_with("0x") && keys[0].size() == 34) << keys[0];
  const auto fastest = config.timings->fastest(keys[0]);
  ASSERT_TRUE(fastest);
  EXPECT_NE(config.timings->text().find(fastest->tactic), std::string::npos);
  EXPECT_FALSE(config.timings->fastest("0x0"));
  const Folder folder;
  fs::create_directories(folder.path);
  const std::string path = folder.path + "/times";
  config.timings->save(path);
  EXPECT_EQ(TimingCache::load(path)->text(), config.timings->text());
  TimingCache other;
  other.merge(*config.timings);
  EXPECT_EQ(other.text(), config.timings->text());
  EXPECT_EQ(kind_of([&] { TimingCache::parse("no cache"); }), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of([&] { TimingCache::load(folder.path + "/none"); }), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { other.save("/no/such/folder/times"); }), ErrorKind::io);
}

TEST(PlanCache, BuildsOnce) {
  const Folder folder;
  const PlanCache cache({.folder = folder.path});
  bool cached = true;
  build_file(kRelu, plain(), cache, "", &cached);
  EXPECT_FALSE(cached);
  expect_relu(build_file(kRelu, plain(), cache, "", &cached));
  EXPECT_TRUE(cached);
  BuildConfig other = plain();
  other.tf32 = false;
  build_file(kRelu, other, cache, "", &cached);
  EXPECT_FALSE(cached) << "another option is another plan";
  EXPECT_EQ(cache.clear(), 2);
}

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

TEST(PlanCache, BytesAndAFileOfThemShareAPlan) {
  const Folder folder;
  const PlanCache cache({.folder = folder.path});
  std::vector<std::byte> bytes = bytes_of(kRelu);
  bool cached = true;
  expect_relu(build_bytes(bytes, plain(), cache, "", &cached));
  EXPECT_FALSE(cached);
  expect_relu(build_bytes(bytes, plain(), cache, "", &cached));
  EXPECT_TRUE(cached);
  expect_relu(build_file(kRelu, plain(), cache, "", &cached));
  EXPECT_TRUE(cached);
  BuildConfig other = plain();
  other.tf32 = false;
  build_bytes(bytes, other, cache, "", &cached);
  EXPECT_FALSE(cached) << "another option is another plan";
  const std::string key = plan_key(bytes, plain());
  bytes.pop_back();
  EXPECT_NE(plan_key(bytes, plain()), key) << "other bytes are another model";
  EXPECT_EQ(kind_of([&] { build_bytes(bytes, plain(), cache); }), ErrorKind::invalid_model);
  EXPECT_EQ(cache.clear(), 2) << "what failed is not kept";
}

TEST(PlanCache, AKeyIsInItsEntry) {
  const Folder folder;
  const PlanCache cache({.folder = folder.path});
  const Engine engine = build_file(kRelu, plain());
  cache.store("one", engine, "mine");
  EXPECT_TRUE(fs::exists(folder.path + "/mine.plan"));
  std::string why;
  EXPECT_TRUE(cache.find("one", {}, "mine", &why).has_value()) << why;
  EXPECT_FALSE(cache.find("two", {}, "mine", &why).has_value());
  EXPECT_NE(why.find("something else"), std::string::npos) << why;
  std::ofstream(folder.path + "/mine.plan", std::ios::binary) << "damaged";
  EXPECT_FALSE(cache.find("one", {}, "mine", &why).has_value());
  EXPECT_NE(why.find("not a Tenfold plan"), std::string::npos) << why;
  std::string reported;
  const LoadOptions load{.log = [&](Severity, std::string_view text) { reported += text; }};
  expect_relu(cache.get("one", [&] { return engine; }, load, "mine"));
  EXPECT_NE(reported.find("is built anew: "), std::string::npos) << reported;
  expect_relu(cache.get("one", [&] { return engine; }, {}, "other.engine"));
  EXPECT_TRUE(fs::exists(folder.path + "/other.engine"));
  EXPECT_TRUE(cache.find("one", {}, "mine").has_value()) << "a damaged entry is replaced";
  for (const char* name : {"../mine", ".."}) EXPECT_EQ(kind_of([&] { cache.path("one", name); }), ErrorKind::invalid_argument);
}

// A copy of a file under another name is the same model.
TEST(PlanBytes, DoNotDependOnTheNameOfTheModelsFile) {
  const Folder folder;
  fs::create_directories(folder.path);
  fs::copy_file(kRelu, folder.path + "/other.onnx");
  const Engine engine = build_file(folder.path + "/other.onnx", plain());
  EXPECT_EQ(engine.serialize(), build_file(kRelu, plain()).serialize());
  EXPECT_EQ(engine.info().model_name, "relu");
}

TEST(PlanCache, TellsItsEntriesAndIsTrimmed) {
  const Folder folder;
  const PlanCache cache({.folder = folder.path});
  const Engine engine = build_file(kRelu, plain());
  for (const char* key : {"a", "b", "c"}) cache.store(key, engine);
  std::ofstream(folder.path + "/torch.timings") << "no plan";
  fs::copy_file(cache.path("a"), folder.path + "/copy.plan");
  engine.save(folder.path + "/mine.plan");   // without a key: the user's own
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(cache.path("b"), now - std::chrono::hours(2));
  const std::vector<PlanCacheEntry> entries = cache.entries();
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].path, cache.path("b"));
  EXPECT_EQ(entries[0].key, "b");
  EXPECT_EQ(entries[0].bytes, static_cast<std::int64_t>(fs::file_size(cache.path("b"))));
  EXPECT_LT(entries[0].used, entries[3].used - 3'600'000);
  EXPECT_EQ(cache.trim(4 * entries[0].bytes), 0);
  EXPECT_EQ(cache.trim(4 * entries[0].bytes - 1), 1);
  EXPECT_FALSE(fs::exists(cache.path("b")));
  EXPECT_EQ(cache.trim(0), 3);
  EXPECT_TRUE(fs::exists(folder.path + "/mine.plan") && fs::exists(folder.path + "/torch.timings"));
  EXPECT_EQ(kind_of([&] { cache.trim(-1); }), ErrorKind::invalid_argument);
}

TEST(PlanCache, ANamedPipeIsNoPlan) {
  const Folder folder;
  const PlanCache cache({.folder = folder.path});
  ASSERT_EQ(::mkfifo(cache.path("key").c_str(), 0600), 0);
  std::string reported;
  const LoadOptions load{.log = [&](Severity, std::string_view text) { reported += text; }};
  expect_relu(cache.get("key", [] { return build_file(kRelu, plain()); }, load));
  EXPECT_NE(reported.find("no regular file"), std::string::npos) << reported;
}

TEST(PlanCache, WhatWasUsedLongestAgoGoes) {
  const Folder folder;
  const Engine engine = build_file(kRelu, plain());
  const auto bytes = static_cast<std::int64_t>(engine.serialize().size());
  const PlanCache cache({.folder = folder.path, .max_bytes = 2 * bytes + bytes / 2});   // a key makes an entry a little larger
  cache.store("a", engine), cache.store("b", engine);
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(cache.path("a"), now - std::chrono::hours(2)), fs::last_write_time(cache.path("b"), now - std::chrono::hours(1));
  EXPECT_TRUE(cache.find("a").has_value());   // used now
  cache.store("c", engine);
  EXPECT_TRUE(cache.find("a").has_value());
  EXPECT_FALSE(cache.find("b").has_value());
  EXPECT_TRUE(cache.find("c").has_value());
}

TEST(PlanCache, ProcessesBuildOneAfterTheOther) {
  const Folder folder;
  const PlanCache cache({.folder = folder.path});
  std::atomic<int> builds{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      expect_relu(cache.get("key", [&] { return ++builds, build_file(kRelu, plain()); }));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(builds, 1);
}

TEST(FallbackChain, TakesTheFirstThatWorks) {
  const Folder folder;
  fs::create_directories(folder.path);
  const std::string plan = folder.path + "/relu.plan";
  build_file(kRelu, plain()).save(plan);
  FallbackChain fallback_chain({plan_candidate(folder.path + "/none.plan"), plan_candidate(plan), model_candidate(kRelu, plain())});
  expect_relu(fallback_chain.engine());
  EXPECT_EQ(fallback_chain.candidate(), 1);
  ASSERT_EQ(fallback_chain.failures().size(), 1u);
  EXPECT_EQ(fallback_chain.failures()[0].kind, ErrorKind::io);
  EXPECT_TRUE(fallback_chain.report_failure(ErrorKind::device, "the device is gone"));
  expect_relu(fallback_chain.engine());
  EXPECT_EQ(fallback_chain.candidate(), 2);
  EXPECT_EQ(fallback_chain.failures()[1].why, "the device is gone");
  EXPECT_FALSE(fallback_chain.report_failure(ErrorKind::device, "that, too"));
  try {
    fallback_chain.engine();
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::device);
    EXPECT_NE(std::string(e.what()).find("the device is gone"), std::string::npos) << e.what();
  }
  fallback_chain.restart();
  expect_relu(fallback_chain.engine());
  EXPECT_EQ(fallback_chain.candidate(), 1);
  EXPECT_EQ(kind_of([] { FallbackChain({}); }), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace tenfold
