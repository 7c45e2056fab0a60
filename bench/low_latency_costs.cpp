// low_latency_costs: what rings and swaps add to an answer. It wants two CPUs that nobody else uses.
//
//   low_latency_costs PLAN [rings|swaps|faults]...
//
// rings   one request directly behind the other, in turns: in this thread, by a RunnerThread, and by another process.
// swaps   10,000 requests a second for ten seconds, in turns: without, and with 100 swaps that a thread on another CPU makes of the plan.
// faults  10^6 requests to a candidate that fails on the half-millionth, beside the second candidate alone: the first
// answer of that one, and what
//         is lost.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tenfold/latency_recorder.h"
#include "tenfold/low_latency.h"
#include "tenfold/machine.h"
#include "tenfold/network.h"
#include "tenfold/open_loop.h"
#include "tenfold/build.h"
#include "tenfold/plugin.h"
#include "tenfold/port_server.h"

namespace {

using namespace tenfold;
using namespace std::chrono_literals;

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / 1ns; }
double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }
void print(const char* what, const LatencyRecorder& r) {
  std::printf("  %-34s p50 %8.2f   p99 %8.2f   p99.9 %9.2f   max %9.2f us\n", what, us(r.percentile(50)), us(r.percentile(99)),
              us(r.percentile(99.9)), us(r.max()));
}
void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    throw Error(ErrorKind::invalid_argument, "CPU " + std::to_string(cpu) + " cannot be had");
}
// The first and the last that this process may use, as it began.
const std::vector<int>& cpus() {
  static const std::vector<int> two{allowed_cpus().front(), allowed_cpus().back()};
  return two;
}

template <class Call>
void time_calls(LatencyRecorder& times, Call call) {
  for (int i = 0; i < 110'000; ++i) {
    const std::int64_t start = now_ns();
    call(static_cast<std::uint64_t>(i));
    if (i >= 10'000) times.record(now_ns() - start);
  }
}
void call_port(RunnerPort& port, std::uint64_t id, const void* x, void* y) {
  Answer answer;
  if (!port.submit(id, x)) std::exit(1);
  while (!port.poll(answer, y)) {
  }
  if (!answer.status || answer.id != id) std::fprintf(stderr, "a wrong answer\n"), std::exit(1);
}

// A process that serves the plan at `path` until its parent ends.
pid_t serving_process(const std::string& plan, const std::string& path) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  LatencyRunner runner({plan_candidate(plan)});
  PortServer server(runner, path);
  RunnerThread thread({&runner}, {.cpu = cpus()[1]});
  for (;;) pause();
}
RunnerPort connected(const std::string& path) {
  for (;; std::this_thread::sleep_for(10ms)) try {
      return connect_port(path);
    } catch (const Error&) {
    }
}

void rings(const std::string& plan) {
  const std::string path = "/tmp/low_latency_costs-" + std::to_string(getpid());
  const pid_t child = serving_process(plan, path);
  stay_on(cpus()[0]);
  LatencyRunner here({plan_candidate(plan)}), there({plan_candidate(plan)});
  RunnerPort far = connected(path);
  std::vector<std::byte> x(static_cast<std::size_t>(here.input_bytes())), y(static_cast<std::size_t>(here.output_bytes()));
  LatencyRecorder times[3];
  for (int round = 0; round < 5; ++round) {
    time_calls(times[0], [&](std::uint64_t) { here.infer(x.data(), y.data()); });
    // The other process's thread spins on the second CPU: while this one's has it, that is stopped.
    kill(child, SIGSTOP);
    {
      static std::optional<LatencyRunner> one;
      one.emplace(std::vector{plan_candidate(plan)});
      RunnerPort port = one->open_port();
      RunnerThread thread({&*one}, {.cpu = cpus()[1]});
      time_calls(times[1], [&](std::uint64_t id) { call_port(port, id, x.data(), y.data()); });
    }
    kill(child, SIGCONT);
    time_calls(times[2], [&](std::uint64_t id) { call_port(far, id, x.data(), y.data()); });
  }
  kill(child, SIGKILL), waitpid(child, nullptr, 0);
  unlink(path.c_str());
  print("in this thread", times[0]), print("a RunnerThread, by rings", times[1]), print("another process, by rings", times[2]);
}

struct Both {
  LatencyRecorder response, service;
  void add(const OpenLoopResult& r) { response.add(r.response), service.add(r.service); }
};
void print(const std::string& what, const Both& b) { print((what + ", response").c_str(), b.response), print("  service", b.service); }

OpenLoopResult load_while_swapped(LatencyRunner& loaded, LatencyRunner* swapped, const std::string& plan) {
  std::vector<std::byte> x(static_cast<std::size_t>(loaded.input_bytes()));
  std::jthread swapper([&] {
    stay_on(cpus()[0]);
    std::this_thread::sleep_for(1s);   // the warm-up
    for (int i = 0; swapped && i < 100; ++i) swapped->swap({plan_candidate(plan)}), std::this_thread::sleep_for(90ms);
  });
  return run_open_loop(loaded, {x.data()}, {.rate = 10'000, .duration = 10s});
}

void swaps(const std::string& plan) {
  stay_on(cpus()[1]);
  LatencyRunner runner({plan_candidate(plan)}), other({plan_candidate(plan)});
  LatencyRecorder hiccups;
  Both without, of_other, with;
  std::uint64_t lost = 0;
  for (int round = 0; round < 3; ++round) {
    hiccups.add(run_idle_loop({.rate = 10'000, .duration = 3s}).response);
    without.add(load_while_swapped(runner, nullptr, plan));
    of_other.add(load_while_swapped(runner, &other, plan));
    const OpenLoopResult r = load_while_swapped(runner, &runner, plan);
    with.add(r);
    lost += r.requests - r.answered + r.failed;
  }
  std::printf("  %llu swaps, %llu requests lost\n", static_cast<unsigned long long>(runner.counts().swaps),
              static_cast<unsigned long long>(lost));
  print("hiccups", hiccups), print("without swaps", without), print("100 swaps of another runner", of_other);
  print("100 swaps of this one", with);
}

// x + 1, and from the wished run on a device that is lost.
class Fragile final : public PluginOperator {
 public:
  explicit Fragile(std::shared_ptr<std::int64_t> left) : left_(std::move(left)) {}
  PluginInfo info() const override { return {.domain = "bench", .name = "Fragile"}; }
  std::vector<PluginType> infer(const NetworkAttributes&, std::span<const PluginType> in) const override { return {in[0]}; }
  void compute(const NetworkAttributes&, std::span<const PluginTensor> in, std::span<const PluginTensor> out) const override {
    if (left_ && (*left_)-- <= 0) throw Error(ErrorKind::device, "it was told to fail");
    for (std::int64_t i = 0; i < in[0].size(); ++i) out[0].as<float>()[i] = in[0].as<float>()[i] + 1;
  }

 private:
  std::shared_ptr<std::int64_t> left_;
};
EngineCandidate candidate_of(const char* name, std::shared_ptr<std::int64_t> left) {
  return {name, [left] {
            auto plugins = std::make_shared<Plugins>();
            plugins->add(std::make_shared<Fragile>(left));
            Network net("fragile", plugins);
            net.mark_output(net.add_node("Fragile", {net.input("x", DType::f32, {1, 32})}, {}, 1, "", "bench").at(0), "y");
            BuildConfig config;
            config.threads = 1, config.optimization_level = 0, config.plugins = plugins;
            return build(net, config);
          }};
}

void faults() {
  constexpr int kRequests = 1'000'000;
  stay_on(cpus()[1]);
  const auto left = std::make_shared<std::int64_t>(std::int64_t{1} << 40);
  LatencyRunner fallback_chain({candidate_of("fails", left), candidate_of("cpu", nullptr)}), alone({candidate_of("cpu", nullptr)});
  *left = kRequests / 2;
  std::vector<float> x(32), y(32);
  LatencyRecorder second, all;
  std::int64_t first_by_second = -1;
  int lost = 0;
  for (int i = 0; i < kRequests; ++i) {
    if (i % 2 == 0) {
      const std::int64_t began = now_ns();
      alone.infer(x.data(), y.data());
      second.record(now_ns() - began);
    }
    x[0] = static_cast<float>(i % 4096);
    const std::int64_t start = now_ns();
    const Answer a = fallback_chain.infer(x.data(), y.data());
    const std::int64_t took = now_ns() - start;
    all.record(took);
    if (!a.status || y[0] != x[0] + 1) ++lost;
    if (a.candidate == 1 && first_by_second < 0) first_by_second = took;
  }
  print("the second candidate alone", second), print("the fallback chain", all);
  std::printf("  %d requests lost; the first answer by the second candidate took %.2f us\n", lost, us(first_by_second));
}

}  // namespace

int main(int argc, char** argv) {
  cpus();
  if (argc < 2) return std::fprintf(stderr, "low_latency_costs PLAN [rings|swaps|faults]...\n"), 2;
  const auto selected = [&](const char* part) {
    return argc == 2 || std::any_of(argv + 2, argv + argc, [&](const char* a) { return std::strcmp(a, part) == 0; });
  };
  // Each in a thread of its own, for it stays on the CPU that it was put on.
  const auto run = [&](const char* part, auto measure) {
    if (selected(part)) std::printf("%s\n", part), std::async(std::launch::async, measure).get();
  };
  try {
    run("rings", [&] { rings(argv[1]); });
    run("swaps", [&] { swaps(argv[1]); });
    run("faults", faults);
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "low_latency_costs: %s\n", e.what()), 1;
  }
}
