// Limits of memory of both cgroup versions, on made-up trees.
#include "base/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tenfold/error.h"

namespace tenfold {
namespace {

struct MemoryLimits : testing::Test {
  std::filesystem::path root = std::filesystem::path(testing::TempDir()) / ("memory" + std::to_string(getpid()));
  void SetUp() override { std::filesystem::create_directories(root); }
  void TearDown() override { std::filesystem::remove_all(root); }
  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  std::int64_t left(const char* membership, std::int64_t swap = 0) {
    const auto limit = min_memory_left(membership, root.string(), swap);
    return limit ? limit->left : -1;
  }
};

TEST_F(MemoryLimits, OfVersion2) {
  put("a/b/memory.max", "1000000\n"), put("a/b/memory.current", "400000\n");
  put("a/memory.max", "max\n"), put("a/memory.current", "500000\n");
  EXPECT_EQ(left("0::/a/b\n"), 600000);
  EXPECT_EQ(left("0::/a\n"), -1);
  put("a/b/memory.stat", "anon 1\ninactive_file 100000\nactive_file 50000\nfile 999\n");   // files may be dropped
  EXPECT_EQ(left("0::/a/b\n"), 750000);
  put("a/memory.max", "600000\n");   // every ancestor's holds
  EXPECT_EQ(left("0::/a/b\n"), 100000);
  put("memory.max", "700000\n"), put("memory.current", "650000\n");   // what a container sees of a path that it has not mounted
  EXPECT_EQ(left("0::/not/seen/here\n"), 50000);
  put("memory.current", "800000\n");
  EXPECT_EQ(left("0::/\n"), 0);
  EXPECT_EQ(left("0::/\n", 1000), 1000);   // nothing limits swap
  put("memory.swap.max", "300\n"), put("memory.swap.current", "100\n");
  EXPECT_EQ(left("0::/\n", 1000), 200);
  EXPECT_EQ(min_memory_left("0::/\n", root.string(), 0)->file, (root / "memory.max").string());
}

TEST_F(MemoryLimits, OfVersion1) {
  put("memory/job/memory.limit_in_bytes", "5000000\n"), put("memory/job/memory.usage_in_bytes", "3000000\n");
  put("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 500000\ntotal_active_file 0\n");
  put("memory/memory.limit_in_bytes", "9223372036854771712\n"), put("memory/memory.usage_in_bytes", "3000000\n");
  EXPECT_EQ(left("4:memory:/job\n3:cpu:/other\n"), 2500000);
  EXPECT_EQ(left("4:memory:/other\n"), -1);
  EXPECT_EQ(left("3:cpu:/job\n"), -1);
  put("memory/job/memory.memsw.limit_in_bytes", "5000000\n");   // no swap beyond the memory
  EXPECT_EQ(left("4:memory:/job\n", 1 << 20), 2500000);
  put("memory/job/memory.memsw.limit_in_bytes", "5100000\n");
  EXPECT_EQ(left("4:memory:/job\n", 1 << 20), 2600000);
}

TEST_F(MemoryLimits, NonsenseIsNoLimit) {
  put("memory.max", "-5\n"), put("memory.current", "1\n");
  EXPECT_EQ(left("0::/\nrubbish\n::\n"), -1);
  put("memory.max", "100\n"), put("memory.current", "");
  EXPECT_EQ(left("0::/\n"), -1);
  EXPECT_EQ(left(""), -1);
}

// In a cgroup of its own, where this process may make one: an error with both numbers, where the kernel would end it.
TEST(MemoryLimit, IsAskedBeforeMemoryIsTaken) {
  const std::filesystem::path v1 = "/sys/fs/cgroup/memory", v2 = "/sys/fs/cgroup";
  const bool first = std::filesystem::exists(v1 / "cgroup.procs");
  const std::filesystem::path own = (first ? v1 : v2) / ("tenfold_test_" + std::to_string(getpid()));
  std::error_code denied;
  std::filesystem::create_directory(own, denied);
  const std::filesystem::path limit = own / (first ? "memory.limit_in_bytes" : "memory.max");
  if (denied || !std::filesystem::exists(limit)) GTEST_SKIP() << "no cgroup with a limit of memory can be made here: " << own;
  std::ofstream(limit) << (64 << 20);
  const pid_t child = ::fork();
  if (child == 0) {
    std::ofstream(own / "cgroup.procs") << ::getpid() << std::flush;
    try {
      expect_memory(32 << 20, "a test");
      expect_memory(65 << 20, "a test");
    } catch (const Error& e) {
      const std::string text = e.what();
      const bool reported = e.kind() == ErrorKind::out_of_memory && text.find("cannot allocate 68157440 bytes of a test") != text.npos &&
                        text.find("limit of 67108864 bytes leaves") != text.npos && text.find(limit.string()) != text.npos;
      ::_exit(reported ? 0 : 2);
    }
    ::_exit(1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ::rmdir(own.c_str());
}

}  // namespace
}  // namespace tenfold
