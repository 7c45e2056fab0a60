// Two processes that share the files of every cache and have different keys: each gets its own answers, always.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "base/files/file.h"
#include "builder/builder.h"
#include "builder/record_file.h"
#include "limits_graphs.h"
#include "tenfold/plan_cache.h"
#include "tune/timing/code_cache.h"
#include "tune/timing/timing_cache.h"

namespace tenfold {
namespace {

namespace fs = std::filesystem;

struct SharedCaches : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) / cat("tenfold_shared_", ::getpid());
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string at(const char* name) const { return (folder / name).string(); }

  // round(number, turn) in two processes with the numbers 0 and 1, for two seconds. It says whether all was right.
  template <class Round>
  void in_two_processes(Round round) {
    pid_t children[2];
    for (int number = 0; number < 2; ++number) {
      if ((children[number] = ::fork()) != 0) continue;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
      int turn = 0, wrong = 0;
      try {
        for (; std::chrono::steady_clock::now() < end; ++turn) wrong += !round(number, turn);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "process %d, turn %d: %s\n", number, turn, e.what());
        ++wrong;
      }
      if (wrong) std::fprintf(stderr, "process %d: %d wrong answers of %d\n", number, wrong, turn);
      _exit(wrong ? 1 : turn < 10 ? 2 : 0);
    }
    for (const pid_t child : children) {
      int status = -1;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
  }
};

Engine engine_of(const char* op) {
  BuildConfig config;
  config.threads = 1, config.optimization_level = 0;
  return builder::build_graph(limits::parse(cat("(x f32[3])\n  y = ", op, "(x)\n  return y\n")), config);
}

TEST_F(SharedCaches, PlansOfOneName) {
  in_two_processes([&](int number, int) {
    static const Engine mine = engine_of(number ? "Neg" : "Relu");
    const PlanCache cache({.folder = folder.string()});
    Tensor x(DType::f32, {3});
    for (int i = 0; i < 3; ++i) x.mutable_data<float>()[i] = 2;
    const Engine got = cache.get(cat("key ", number), [] { return mine; }, {.threads = 1}, "shared");
    return got.create_context()->run({x})[0].data<float>()[0] == (number ? -2.0f : 2.0f);
  });
}

TEST_F(SharedCaches, TimesOfOneFile) {
  in_two_processes([&](int number, int turn) {
    const tune::TimingKey key{cat("machine ", number), cat("problem ", turn % 50), "tactic", ""};
    tune::TimingCache fresh;
    fresh.insert(key, number + 1);
    fresh.save(at("times"));
    return tune::TimingCache::load(at("times")).find(key) == number + 1;
  });
}

TEST_F(SharedCaches, KernelsOfOneFile) {
  in_two_processes([&](int number, int turn) {
    const Hash128 key{static_cast<std::uint64_t>(turn % 50), static_cast<std::uint64_t>(number)};
    const std::string image = cat("image ", number);
    tune::save_code(at("kernels"), {std::make_shared<const backends::Code>(backends::Code{key, "a compiler", image})});
    for (const auto& one : tune::load_code(at("kernels")))
      if (one->key == key) return one->image == image;
    return false;
  });
}

TEST_F(SharedCaches, RecordsOfOneFile) {
  in_two_processes([&](int number, int turn) {
    const builder::RecordFile file(at("times"), ".records", "a header");
    const Hash128 key{static_cast<std::uint64_t>(turn % 50), static_cast<std::uint64_t>(number)};
    file.add(key, {cat("line ", number)}, {});
    const auto found = file.find(key);
    return found && *found == std::vector<std::string>{cat("line ", number)};
  });
}

// A process that is stopped while it holds the locks of all caches: each user of one says for whom it waits, and goes on without it.
TEST_F(SharedCaches, AStoppedProcessHoldsUpNobodyForLong) {
  const PlanCache cache({.folder = folder.string()});
  const std::string times = at("times"), kernels = at("kernels"), records = times + ".records", plan = cache.path("key") + ".lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const FileLock a(times), b(kernels), c(records), d(plan);
    write_file(at("held"), "");
    ::raise(SIGSTOP);
    _exit(0);
  }
  while (!fs::exists(at("held"))) ::usleep(1000);
  const Engine engine = engine_of("Relu");
  std::string reported[4];
  const auto log = [&](int i) { return [&reported, i](Severity, std::string_view text) { reported[i] += std::string(text) + "\n"; }; };
  const auto start = std::chrono::steady_clock::now();
  {
    tune::TimingCache fresh;
    fresh.insert({"machine", "problem", "tactic", ""}, 1);
    const std::jthread one([&] { fresh.save(times, Log(log(0))); });
    const std::jthread two([&] { tune::save_code(kernels, {std::make_shared<const backends::Code>()}, Log(log(1))); });
    const std::jthread three([&] { builder::RecordFile(times, ".records", "a header").add({1, 2}, {"line"}, Log(log(2))); });
    const std::jthread four([&] { cache.get("key", [&] { return engine; }, {.log = log(3)}); });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  for (const std::string& text : reported) {
    EXPECT_NE(text.find(cat("waiting for process ", child)), std::string::npos) << text;
    EXPECT_NE(text.find("is stopped for 10 s"), std::string::npos) << text;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace tenfold
