// Quota files of both cgroup versions, on made-up trees.
#include "base/threads/cpu_count.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>

namespace tenfold {
namespace {

struct CpuCount : testing::Test {
  std::filesystem::path root = std::filesystem::path(testing::TempDir()) / ("cgroup" + std::to_string(getpid()));
  void SetUp() override { std::filesystem::create_directories(root); }
  void TearDown() override { std::filesystem::remove_all(root); }
  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
};

TEST_F(CpuCount, ReadsVersion2) {
  put("a/b/cpu.max", "150000 100000\n");
  put("a/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_cpus("0::/a/b\n", root.string()), 2);   // one and a half CPUs keep two threads busy
  EXPECT_EQ(cgroup_cpus("0::/a\n", root.string()), 0);
  put("cpu.max", "100000 100000\n");
  EXPECT_EQ(cgroup_cpus("0::/a/b\n", root.string()), 1);   // the least of all ancestors
  EXPECT_EQ(cgroup_cpus("0::/not/seen/here\n", root.string()), 1);
  EXPECT_EQ(cgroup_cpus("0::/\n", root.string()), 1);
}

TEST_F(CpuCount, ReadsVersion1) {
  put("cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
  put("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  put("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  put("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpus("4:memory:/job\n3:cpu,cpuacct:/job\n", root.string()), 4);
  EXPECT_EQ(cgroup_cpus("3:cpu,cpuacct:/other\n", root.string()), 0);
  EXPECT_EQ(cgroup_cpus("3:cpuset:/job\n", root.string()), 0);
}

TEST_F(CpuCount, NonsenseIsNoLimit) {
  put("cpu.max", "-5 0\n");
  EXPECT_EQ(cgroup_cpus("0::/\nrubbish\n::\n", root.string()), 0);
  EXPECT_EQ(cgroup_cpus("", root.string()), 0);
}

TEST_F(CpuCount, FollowsTheAffinityMask) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(default_threads(), 1);
  EXPECT_LE(default_threads(), CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) { CPU_SET(cpu, &one); break; }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(default_threads(), 1);
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace tenfold
