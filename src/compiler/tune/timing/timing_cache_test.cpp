// The timing cache keeps the least time whatever the order, survives damage, and is shared by processes.
#include "tune/timing/timing_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/file.h"

namespace tenfold::tune {
namespace {

TimingKey key(int i) { return {"machine; 2 threads", "MatMul f32[1," + std::to_string(i) + "] -> f32[1]", "matmul v1", "16,4"}; }

struct TimingCacheFile : testing::Test {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("cache" + std::to_string(getpid()));
  std::string path = (folder / "timing.cache").string();
  std::string warnings;
  Log log{[this](Severity severity, std::string_view text) {
    EXPECT_EQ(severity, Severity::warning);
    warnings += std::string(text) + "\n";
  }};
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
};

TEST_F(TimingCacheFile, RoundTripIsExact) {
  TimingCache cache;
  cache.insert({"a\tb", "line\nbreak \\ slash", "t", ""}, 0.1 + 0.2);
  cache.insert(key(1), 1e9 / 3);
  cache.save(path, log);
  EXPECT_EQ(TimingCache::load(path, log), cache);
  EXPECT_EQ(read_file(path), cache.text());
  EXPECT_EQ(warnings, "");
  EXPECT_EQ(*TimingCache::load(path).find(key(1)), 1e9 / 3);
  EXPECT_FALSE(cache.find(key(2)));
}

TEST_F(TimingCacheFile, MergingCommutes) {
  TimingCache a, b;
  a.insert(key(1), 5), a.insert(key(2), 7);
  b.insert(key(2), 6), b.insert(key(3), 1), b.insert(key(1), 9);
  TimingCache ab = a, ba = b;
  ab.merge(b), ba.merge(a);
  EXPECT_EQ(ab.text(), ba.text());
  EXPECT_EQ(*ab.find(key(2)), 6);
  EXPECT_EQ(*ab.find(key(1)), 5);
  EXPECT_EQ(ab.size(), 3u);
}

TEST_F(TimingCacheFile, DamagedLinesAreLeftOut) {
  TimingCache cache;
  for (int i = 0; i < 4; ++i) cache.insert(key(i), i + 1);
  std::string text = cache.text();
  text += "garbage\n-5\tm\tt\tc\tp\nnan\tm\tt\tc\tp\n12x\tm\tt\tc\tp\n3\tm\tt\tc";
  write_file(path, text);
  EXPECT_EQ(TimingCache::load(path, log), cache);
  EXPECT_NE(warnings.find("5 damaged lines"), std::string::npos) << warnings;
  EXPECT_NE(warnings.find("line 6"), std::string::npos) << warnings;
}

TEST_F(TimingCacheFile, AnotherFileIsKeptAside) {
  write_file(path, "my thesis\n");
  EXPECT_EQ(TimingCache::load(path, log).size(), 0u);
  TimingCache cache;
  cache.insert(key(1), 1);
  cache.save(path, log);
  EXPECT_EQ(read_file(path + ".damaged"), "my thesis\n");
  EXPECT_NE(warnings.find("kept as '" + path + ".damaged'"), std::string::npos) << warnings;
  warnings.clear();
  EXPECT_EQ(TimingCache::load(path, log), cache) << "timings are kept from now on";
  EXPECT_EQ(warnings, "");
}

TEST_F(TimingCacheFile, FailuresAreWarnings) {
  EXPECT_EQ(TimingCache::load(path, log).size(), 0u);
  EXPECT_EQ(warnings, "");   // a cache that does not exist yet is no fault
  TimingCache cache;
  cache.insert(key(1), 1);
  cache.save((folder / "no" / "such" / "folder").string(), log);
  EXPECT_NE(warnings.find("not saved"), std::string::npos);
  warnings.clear();
  EXPECT_EQ(TimingCache::load(folder.string(), log).size(), 0u);
  EXPECT_NE(warnings.find("not used"), std::string::npos);
}

TEST_F(TimingCacheFile, EightProcessesLoseNothing) {
  constexpr int kProcesses = 8, kRounds = 20;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      for (int round = 0; round < kRounds; ++round) {
        TimingCache cache;
        cache.insert(key(100 + process * kRounds + round), 10);
        cache.insert(key(0), 1000 - process * kRounds - round);   // one key that all of them measure
        cache.save(path);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const TimingCache cache = TimingCache::load(path, log);
  EXPECT_EQ(cache.size(), static_cast<std::size_t>(kProcesses * kRounds + 1));
  EXPECT_EQ(*cache.find(key(0)), 1000 - (kProcesses * kRounds - 1));
  EXPECT_EQ(warnings, "");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);   // no lock or temporary file stays
}

}  // namespace
}  // namespace tenfold::tune
