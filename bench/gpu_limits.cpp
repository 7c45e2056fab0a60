// gpu_bench limits: what handing results on costs, bytes a clock from the second cache, and from other blocks of a cluster.
#include "gpu_limits.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "backends/backend.h"
#include "backends/code.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/device/tensor_map.h"
#include "base/check.h"
#include "gpu_limits_kernels.h"

namespace tenfold::bench {
namespace {

using namespace backends;
using namespace backends::cuda;
using std::int64_t;

// As the kernels have them.
struct Stages {
  void *rows, *counters;
  int group, first, count;
  unsigned before;
};
struct Loads {
  TensorMap map;
  const void* from;
  void* clocks;
  int steps, apart, passes;
};
struct Others {
  void* clocks;
  int passes;
};

class Limits {
 public:
  Limits() : backend_(open_backend("cuda:0")), device_(device_of(backend_->info())), queue_(device_) {
    require(device_.info().arch == 90, ErrorKind::unsupported, "these limits are of sm_90, the GPU has ", device_.info().arch);
    for (Event& e : moments_) expect_ok(driver()->event_create(&e, kEventDefault));
    room_ = backend_->memory().allocate(kRoom), results_ = backend_->memory().allocate(1 << 16);
    clear();
  }
  void run() {
    std::printf("| between two stages, us | 8 blocks | 32 | 132 | 8, with 8 KiB handed on | 32 | 132 |\n|---|---|---|---|---|---|---|\n");
    row("a kernel for each, started after", [&](int blocks, int bytes) { return edges(blocks, bytes, Start::after); });
    row("a kernel for each, started early", [&](int blocks, int bytes) { return edges(blocks, bytes, Start::early); });
    row("one kernel, a barrier of all blocks", [&](int blocks, int bytes) { return stages(blocks, bytes, blocks); });
    row("one kernel, a counter for 4 blocks", [&](int blocks, int bytes) { return stages(blocks, bytes, 4); });
    loads();
    exchanges();
  }

 private:
  static constexpr int64_t kRoom = 64 << 20;
  static void expect_ok(int result) { check(result == kSuccess, "the driver answers ", result); }
  void clear() {
    expect_ok(driver()->fill(address(room_.get()), 0, kRoom, queue_.own));
    expect_ok(driver()->fill(address(results_.get()), 0, 1 << 16, queue_.own));
    expect_ok(driver()->stream_wait(queue_.own));
  }
  static DevicePointer address(const void* p) { return reinterpret_cast<DevicePointer>(p); }
  std::shared_ptr<const LoadedModule> module(const std::string& macros) {
    Opening opening;
    return device_.load(macros + kLimitsKernels, opening);
  }
  static std::string macros(int bytes, int share, bool tensor, int way) {
    return cat("#define BYTES ", bytes, "\n#define SHARE ", share, "\n#define TENSOR ", tensor ? 1 : 0, "\n#define WAY ", way,
               "\n#define BF16 0\n");
  }
  template <class T>
  void start(Function f, int blocks, int threads, unsigned shared, const T& argument, Start start = Start::after) {
    check(launch(queue_, f, {blocks}, static_cast<unsigned>(threads), shared, &argument, start) == Status::ok, "a launch failed: ",
          queue_.failure);
  }
  template <class F>
  double microseconds(const F& work) {
    expect_ok(driver()->event_record(moments_[0], queue_.own));
    work();
    expect_ok(driver()->event_record(moments_[1], queue_.own));
    expect_ok(driver()->stream_wait(queue_.own));
    float ms = 0;
    expect_ok(driver()->event_elapsed(&ms, moments_[0], moments_[1]));
    return 1e3 * static_cast<double>(ms);
  }
  template <class F>
  static double median(const F& one) {
    std::vector<double> all;
    for (int i = 0; i < 9; ++i) all.push_back(one());
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
  template <class F>
  static void row(const char* name, const F& cell) {
    std::printf("| %s |", name);
    for (int bytes : {0, 8192})
      for (int blocks : {8, 32, 132}) std::printf(" %.2f |", cell(blocks, bytes));
    std::printf("\n");
    std::fflush(stdout);
  }

  // Every stage adds 1, so that a reader who comes too early shows.
  void expect_sums(int blocks, int bytes, int count) {
    if (bytes == 0) return;
    std::vector<float> rows(static_cast<std::size_t>(blocks * bytes / 4));
    const int64_t part = static_cast<int64_t>(rows.size()) * 4;
    expect_ok(driver()->copy(address(rows.data()), address(static_cast<char*>(room_.get()) + (count % 2) * part),
                             static_cast<std::size_t>(part), queue_.own));
    expect_ok(driver()->stream_wait(queue_.own));
    for (float x : rows) check(x == static_cast<float>(count), "a stage read ", x, " after ", count, " stages");
  }
  double edges(int blocks, int bytes, Start how) {
    constexpr int kCount = 200;
    clear();
    const auto code = module(macros(bytes, 1, false, 0));
    const Function f = code->function("one_stage");
    Graph graph = nullptr;
    GraphExec exec = nullptr;
    expect_ok(driver()->capture_begin(queue_.own, kCaptureThreadLocal));
    for (int s = 0; s < kCount; ++s) start(f, blocks, 128, 0, Stages{room_.get(), results_.get(), 4, s, 1, 0}, how);
    expect_ok(driver()->capture_end(queue_.own, &graph));
    expect_ok(driver()->graph_instantiate(&exec, graph, 0));
    int runs = 0;
    const double us = median([&] { return ++runs, microseconds([&] { expect_ok(driver()->graph_launch(exec, queue_.own)); }); });
    expect_sums(blocks, bytes, runs * kCount);
    driver()->graph_exec_destroy(exec), driver()->graph_destroy(graph);
    return us / kCount;
  }
  double stages(int blocks, int bytes, int group) {
    constexpr int kCount = 1000;
    clear();
    const auto code = module(macros(bytes, 1, false, 0));
    const Function f = code->function("all_stages");
    unsigned runs = 0;
    const double us = median([&] {
      const Stages a{room_.get(), results_.get(), group, 0, kCount, runs++ * kCount * static_cast<unsigned>(group)};
      return microseconds([&] { start(f, blocks, 128, 0, a); });
    });
    expect_sums(blocks, bytes, static_cast<int>(runs) * kCount);
    return us / kCount;
  }

  std::vector<int64_t> clocks(int blocks) {
    std::vector<int64_t> all(static_cast<std::size_t>(blocks));
    expect_ok(driver()->copy(address(all.data()), address(results_.get()), all.size() * 8, queue_.own));
    expect_ok(driver()->stream_wait(queue_.own));
    std::sort(all.begin(), all.end());
    return all;
  }
  double load(Function f, int blocks, int steps, bool same) {
    Loads a{{}, room_.get(), results_.get(), steps, same ? 0 : steps, 50};
    check(describe<2>({DType::f16, room_.get(), {3072, 10240}, {64, 64}}, a.map) == Status::ok, "the matrix cannot be described");
    start(f, blocks, 128, static_cast<unsigned>(1024 + steps * 8192 + 8), a);
    return static_cast<double>(clocks(blocks).back());
  }
  void loads() {
    std::printf("\n| clocks of one pass by the slowest block; in brackets bytes a clock from 12 to 24 boxes | blocks | 3 boxes of 8 KiB | "
                "12 | 24 |\n|---|---|---|---|---|\n");
    constexpr int kShared = 1024 + 24 * 8192 + 8;
    for (const auto& [name, share, tensor] :
         {std::tuple("rows of 128 bytes of a matrix", 1, true), std::tuple("bytes that lie together", 1, false),
          std::tuple("bytes that lie together, multicast to 2", 2, false), std::tuple("bytes that lie together, multicast to 4", 4, false)})
      for (const bool same : {false, true})
        for (const int blocks : {24, 72, 132}) {
          const auto code = module(macros(0, share, tensor, 0));
          const Function f = code->function("load_boxes", kShared);
          const double few = load(f, blocks, 3, same), some = load(f, blocks, 12, same), many = load(f, blocks, 24, same);
          std::printf("| %s%s | %d | %.0f | %.0f | %.0f (%.1f) |\n", name, same ? ", the same to all" : "", blocks, few, some, many,
                      12 * 8192 / (many - some));
          std::fflush(stdout);
        }
  }
  void exchanges() {
    std::printf("\n| 16 KiB from the next block of four | clocks | bytes a clock |\n|---|---|---|\n");
    const char* names[] = {"read, 16 bytes a thread", "st.async, 8 bytes a thread", "st.async, 16 bytes a thread", "one bulk copy"};
    const Others a{results_.get(), 200};
    for (int way = 0; way < 4; ++way)
      for (const int blocks : {4, 132}) {
        const auto code = module(macros(0, 1, false, way));
        start(code->function("exchange"), blocks, 128, 0, a);
        const double c = static_cast<double>(clocks(blocks).back());
        std::printf("| %s, %d blocks | %.0f | %.1f |\n", names[way], blocks, c, 16384 / c);
      }
    const auto code = module(macros(0, 1, false, 0));
    start(code->function("cluster_barriers"), 4, 128, 0, a);
    std::printf("| a barrier of the cluster | %.0f | |\n", static_cast<double>(clocks(4).back()));
  }

  std::shared_ptr<Backend> backend_;
  Device& device_;
  Queue queue_;
  Event moments_[2] = {};
  std::shared_ptr<void> room_, results_;
};

}  // namespace

void measure_gpu_limits() { Limits().run(); }

}  // namespace tenfold::bench
