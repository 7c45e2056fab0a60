#include "process/machine_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tenfold::server {
namespace {

class MachineLimits : public testing::Test {
 protected:
  MachineLimits() : root_(testing::TempDir() + "machine_limits_" + std::to_string(::getpid())) {}
  ~MachineLimits() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root_;
};

TEST_F(MachineLimits, WithoutCgroupsItIsTheMachine) {
  EXPECT_GT(memory_of_process(root_), std::uint64_t{64} << 20);
  EXPECT_GE(processors_of_process(root_), 1);
}

TEST_F(MachineLimits, TheLeastOfVersion2AndItsAncestors) {
  write("/proc/self/cgroup", "0::/pod/server\n");
  write("/sys/fs/cgroup/pod/server/memory.max", "max\n");
  write("/sys/fs/cgroup/pod/memory.max", "33554432\n");
  write("/sys/fs/cgroup/pod/server/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(memory_of_process(root_), 33554432u);
  EXPECT_EQ(processors_of_process(root_), 1);      // half a processor is a thread
}

TEST_F(MachineLimits, Version1) {
  write("/proc/self/cgroup", "5:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "16777216\n");   // the container's part alone is mounted
  write("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(memory_of_process(root_), 16777216u);
  const int all = processors_of_process(root_);
  write("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "20000\n");
  EXPECT_EQ(processors_of_process(root_), 1);
  EXPECT_GE(all, 1);
}

TEST(DescriptorLimit, RisesAsFarAsItMay) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(raise_descriptor_limit(100), std::min<rlim_t>(612, before.rlim_max));
  EXPECT_EQ(raise_descriptor_limit(10), std::min<rlim_t>(612, before.rlim_max));   // it is never lowered
  ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace tenfold::server
