// A client whose data no engine can compute with: it is told, no candidate is left for it, and others are answered as before.
#include <unistd.h>

#include <limits>

#include "low_latency/low_latency_for_tests.h"
#include "tenfold/port_server.h"

namespace tenfold {
namespace {

using namespace low_latency;
using namespace std::chrono_literals;

// y = the sum of x[4], repeated r times.
EngineCandidate repeated(const std::string& name) {
  return {name, [] {
            Network net("repeated");
            const NetworkTensor x = net.input("x", DType::f32, {4}), r = net.input("r", DType::i64, {1});
            const NetworkTensor tiled = net.add_node("Tile", {x, r}).at(0);
            net.mark_output(net.add_node("ReduceSum", {tiled}, {{"keepdims", std::int64_t{0}}}).at(0), "y");
            BuildConfig config;
            config.threads = 1, config.optimization_level = 0;
            return build(net, config);
          }};
}

struct Request {
  explicit Request(std::int64_t repeats) : r(repeats) {}
  alignas(64) float x[4] = {1, 2, 3, 4};
  alignas(64) std::int64_t r;
};

constexpr std::int64_t kHostile[] = {-1, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                     std::int64_t{1} << 62, std::int64_t{1} << 45, -(std::int64_t{1} << 40)};

bool is_of_the_request(Status::Code code) {
  return code == Status::invalid_input || code == Status::too_large || code == Status::out_of_memory;
}

TEST(HostileClient, LeavesNoCandidate) {
  Reported reported;
  RunnerOptions options;
  options.warm_up_runs = 2, options.first_pause = 10s, options.log = reported.callback();
  LatencyRunner runner({repeated("a"), repeated("b")}, options);
  const std::string path = "/tmp/tenfold_hostile_" + std::to_string(::getpid());
  PortServer server(runner, path);
  RunnerPort own = runner.open_port();
  const RunnerThread thread({&runner}, {.spin = 100us});
  RunnerPort stranger = connect_port(path);
  ASSERT_EQ(stranger.input_bytes(), 64 + 8);
  alignas(64) float y[16];
  Answer a;
  for (int round = 0; round < 50; ++round) {
    const Request bad(kHostile[static_cast<std::size_t>(round) % std::size(kHostile)]), good(3);
    ASSERT_TRUE(stranger.submit(1, &bad));
    ASSERT_TRUE(comes_true([&] { return stranger.poll(a, nullptr); }));
    EXPECT_TRUE(is_of_the_request(a.status.code)) << bad.r << ": " << name(a.status.code);
    ASSERT_TRUE(own.submit(2, &good));
    ASSERT_TRUE(comes_true([&] { return own.poll(a, y); }));
    EXPECT_TRUE(a.status) << name(a.status.code);
    EXPECT_EQ(a.candidate, 0);
    EXPECT_EQ(y[0], 30);
  }
  for (const CandidateState& candidate : runner.candidates()) {
    EXPECT_TRUE(candidate.answers) << candidate.name << ": " << candidate.why;
    EXPECT_EQ(candidate.left, 0u) << candidate.name << ": " << candidate.why;
  }
  EXPECT_EQ(runner.counts().failed, 50u);
  EXPECT_TRUE(runner.ready());
  EXPECT_FALSE(reported.has("was left")) << reported.text();
}

}  // namespace
}  // namespace tenfold
