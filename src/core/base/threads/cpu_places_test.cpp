// The order of CPUs on made-up machines, and threads that stay where they were put.
#include "base/threads/cpu_places.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/threads/placed.h"

namespace tenfold {
namespace {

using Cpus = std::vector<int>;

struct Places : testing::Test {
  std::string root = (std::filesystem::path(testing::TempDir()) / ("cpus" + std::to_string(getpid()))).string();
  void TearDown() override { std::filesystem::remove_all(root); }
  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = std::filesystem::path(root) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  void siblings(const char* name, int cpu, const std::string& list) {
    put("cpu" + std::to_string(cpu) + "/topology/" + name, list);
  }
};

TEST_F(Places, OneCpuOfEachCoreComesFirst) {
  put("smt/active", "1");
  for (int cpu = 0; cpu < 8; ++cpu) siblings("core_cpus_list", cpu, std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
  const CpuPlaces all({0, 1, 2, 3, 4, 5, 6, 7}, root);
  EXPECT_EQ(all.order(), (Cpus{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(all.cores(), 4);
  EXPECT_EQ(all.core_of(6), all.core_of(2));
  EXPECT_NE(all.core_of(6), all.core_of(3));
  // An affinity mask that leaves out some first hyperthreads.
  const CpuPlaces some({1, 2, 4, 5, 6}, root);
  EXPECT_EQ(some.order(), (Cpus{4, 1, 2, 5, 6}));
  EXPECT_EQ(some.cores(), 3);
}

TEST_F(Places, NeighborsAndOlderFilesAreUnderstood) {
  for (int cpu = 0; cpu < 6; ++cpu) {
    const int first = cpu / 2 * 2;
    siblings("thread_siblings_list", cpu, std::to_string(first) + "-" + std::to_string(first + 1));
  }
  EXPECT_EQ(CpuPlaces({0, 1, 2, 3, 4, 5}, root).order(), (Cpus{0, 2, 4, 1, 3, 5}));
}

TEST_F(Places, WithoutFilesEveryCpuIsACore) {
  const CpuPlaces places({3, 5, 9}, root + "/nothing");
  EXPECT_EQ(places.order(), (Cpus{3, 5, 9}));
  EXPECT_EQ(places.cores(), 3);
  EXPECT_EQ(places.core_of(9), 9);
  EXPECT_EQ(places.core_of(4), 4);
  EXPECT_EQ(places.core_of(-1), -1);
  EXPECT_EQ(CpuPlaces({}, root).cores(), 0);
}

TEST_F(Places, HyperthreadsSwitchedOffAreNotLookedFor) {
  put("smt/active", "0");
  for (int cpu = 0; cpu < 2; ++cpu) siblings("core_cpus_list", cpu, "0-1");
  EXPECT_EQ(CpuPlaces({0, 1}, root).cores(), 2);
}

TEST_F(Places, ListsOfNonsenseEndWhereItBegins) {
  EXPECT_EQ(parse_cpu_list("0-2,7"), (Cpus{0, 1, 2, 7}));
  EXPECT_EQ(parse_cpu_list("4\n"), (Cpus{4}));
  EXPECT_EQ(parse_cpu_list("1,x"), (Cpus{1}));
  EXPECT_EQ(parse_cpu_list("1-"), (Cpus{}));
  EXPECT_EQ(parse_cpu_list("0-4000000000"), (Cpus{}));
  EXPECT_EQ(parse_cpu_list("-3"), (Cpus{}));
  EXPECT_EQ(parse_cpu_list(""), (Cpus{}));
}

TEST(Placed, TheCallerStaysOnItsCpu) {
  const Cpus order = CpuPlaces::of_this_thread().order();
  ASSERT_FALSE(order.empty());
  Placed placed(std::make_shared<Serial>(), order.back());
  std::thread([&] {   // a thread of its own: it keeps its CPU
    int parts = 0;
    placed.for_each(3, [&](std::int64_t, int) { ++parts; });
    cpu_set_t set;
    EXPECT_EQ(parts, 3);
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(order.back()), &set));
  }).join();
  EXPECT_EQ(CpuPlaces::of_this_thread().order(), order);
}

}  // namespace
}  // namespace tenfold
