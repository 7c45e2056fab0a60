// Null pointers, streams that are not there, numbers out of range: each is refused, and what was asked works on afterwards.
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <limits>

#include "low_latency/low_latency_for_tests.h"
#include "tenfold/c/latency.h"
#include "tenfold/c/low_latency.h"
#include "tenfold/latency_recorder.h"
#include "tenfold/open_loop.h"
#include "tenfold/port_server.h"
#include "tenfold/row_ring.h"

namespace tenfold {
namespace {

using namespace low_latency;
using namespace std::chrono_literals;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min(), kMax = std::numeric_limits<std::int64_t>::max();
const float kRow[1] = {0.5f};

void expect_refused(const std::function<void()>& act, const char* words, ErrorKind kind = ErrorKind::invalid_argument) {
  try {
    act();
    ADD_FAILURE() << "wanted '" << words << "'";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << "wanted '" << words << "', got '" << e.what() << "'";
    EXPECT_EQ(std::string(e.what()).find("Success"), std::string::npos) << e.what();
  }
}

TEST(WrongUse, ARunner) {
  const ToyCnn cnn;
  LatencyRunner runner(cnn.engine());
  RowRing rows(ToyCnn::kIn, sizeof(float), 2), narrow(4, sizeof(float));
  float y[16] = {};
  const std::vector<float> x = cnn.input(1);
  // As a program writes it that chains the calls.
  EXPECT_EQ(runner.infer(rows.push(2, kRow), y).status.code, Status::invalid_binding);
  EXPECT_EQ(runner.infer(rows.push(0, nullptr), y).status.code, Status::invalid_binding);
  EXPECT_EQ(runner.infer(x.data(), nullptr).status.code, Status::invalid_binding);
  for (const std::int64_t stream : {kMin, std::int64_t{-1}, std::int64_t{2}, kMax}) {
    EXPECT_EQ(rows.push(stream, kRow), nullptr);
    EXPECT_EQ(rows.window(stream), nullptr);
    EXPECT_EQ(rows.filled(stream), 0);
    rows.clear(stream);
    EXPECT_EQ(runner.infer(rows, stream, y).status.code, Status::invalid_binding);
  }
  EXPECT_EQ(runner.infer(narrow, 0, y).status.code, Status::invalid_binding) << "rows of another size";
  EXPECT_EQ(runner.precompute(nullptr).code, Status::invalid_binding);
  for (const std::int64_t due : {kMin, std::int64_t{-1}, kMax}) EXPECT_TRUE(runner.infer(x.data(), y, due).status);
  for (const int binding : {-1, 2, 1 << 30}) expect_refused([&] { runner.offset(binding); }, "there is no binding");
  for (const int slots : {-1, 0, 32001, 1 << 30}) expect_refused([&] { runner.open_port({.slots = slots}); }, "slots");
  expect_refused([&] { runner.open_port({.when_full = static_cast<WhenFull>(7)}); }, "WhenFull");
  expect_refused([&] { runner.swap(std::vector<EngineCandidate>()); }, "needs a candidate");
  expect_refused([&] { runner.swap({{"empty", {}}}); }, "opens nothing");
  expect_refused([&] { run_closed_loop(runner, {nullptr}, 1ms); }, "none may be null");
  EXPECT_TRUE(runner.infer(x.data(), y).status);
  EXPECT_EQ(runner.counts().failed, 0u) << "no request got as far as a candidate";
}

TEST(WrongUse, MissingRowsAreTold) {
  const ToyCnn cnn;
  LatencyRunner runner(cnn.engine());
  RowRing rows(ToyCnn::kIn, sizeof(float));
  RunnerPort port = runner.open_port();
  float y[16];
  for (int i = 1; i <= ToyCnn::kIn + 2; ++i) {
    rows.push(0, kRow);
    const Answer a = runner.infer(rows, 0, y);
    EXPECT_TRUE(a.status);
    EXPECT_EQ(a.missing_rows, std::max(ToyCnn::kIn - i, 0));
  }
  rows.clear(0), rows.push(0, kRow);
  ASSERT_TRUE(port.submit(7, rows, 0));
  EXPECT_FALSE(port.submit(8, rows, 1)) << "there is no such stream";
  EXPECT_FALSE(port.submit(9, nullptr));
  EXPECT_EQ(port.counts().rejected, 2u);
  const RunnerThread thread({&runner});
  Answer a;
  ASSERT_TRUE(comes_true([&] { return port.poll(a, y); }));
  EXPECT_EQ(a.id, 7u);
  EXPECT_EQ(a.missing_rows, ToyCnn::kIn - 1);
  EXPECT_EQ(runner.infer(rows, 0, y).status.code, Status::not_ready);
  expect_refused([&] { run_closed_loop(runner, {y}, 1ms); }, "RunnerThread has the LatencyRunner");
  expect_refused([&] { runner.open_port(); }, "open ports first");
  expect_refused([&] { PortServer(runner, "/tmp/tenfold_late_server"); }, "PortServer first");
}

TEST(WrongUse, Options) {
  const ToyCnn cnn;
  const Engine engine = cnn.engine();
  const auto made = [&](const RunnerOptions& options) { LatencyRunner(engine, options); };
  expect_refused([&] { made({.deadline = std::chrono::nanoseconds(-1)}); }, "deadline");
  expect_refused([&] { made({.not_finite = static_cast<NotFinite>(9)}); }, "NotFinite");
  expect_refused([&] { made({.warm_up_runs = -1}); }, "warm_up_runs");
  expect_refused([&] { made({.tolerance = NAN}); }, "tolerance");
  expect_refused([&] { made({.first_pause = 0s}); }, "pauses");
  expect_refused([&] { made({.first_pause = 2s, .longest_pause = 1s}); }, "pauses");
  expect_refused([&] { made({.good_answers = 0}); }, "good_answers");
  expect_refused([&] { made({.longest_silence = 0s}); }, "longest_silence");
  LatencyRunner runner(engine);
  const auto threaded = [&](std::vector<LatencyRunner*> runners, const RunnerThreadOptions& options) {
    RunnerThread(std::move(runners), options);
  };
  expect_refused([&] { threaded({}, {}); }, "needs a LatencyRunner");
  expect_refused([&] { threaded({nullptr}, {}); }, "null");
  expect_refused([&] { threaded({&runner, &runner}, {}); }, "already");
  expect_refused([&] { threaded({&runner}, {.cpu = -2}); }, "cpu is -2");
  for (const int cpu : {4000, 1 << 30}) expect_refused([&] { threaded({&runner}, {.cpu = cpu}); }, "may not use CPU");
  for (const int priority : {-1, 100, 1 << 30}) expect_refused([&] { threaded({&runner}, {.priority = priority}); }, "priority");
  expect_refused([&] { threaded({&runner}, {.keep_warm = std::chrono::nanoseconds(-1)}); }, "keep_warm");
  for (const int clients : {-1, 0, 1025}) expect_refused([&] { PortServer(runner, "/tmp/x", {.max_clients = clients}); }, "max_clients");
  float y[16];
  EXPECT_TRUE(runner.infer(cnn.input(1).data(), y).status) << "a thread that did not begin leaves the LatencyRunner free";
}

TEST(WrongUse, Rings) {
  for (const std::int64_t bad : {kMin, std::int64_t{-1}, std::int64_t{0}}) {
    expect_refused([&] { RowRing(bad, 4); }, "rows is");
    expect_refused([&] { RowRing(4, bad); }, "row_bytes is");
    expect_refused([&] { RowRing(4, 4, bad); }, "streams is");
  }
  using Sizes = std::array<std::int64_t, 3>;
  for (const Sizes& s : {Sizes{kMax, kMax, kMax}, Sizes{kMax, 1, 1}, Sizes{1, kMax, 1}, Sizes{1, 1, kMax}})
    expect_refused([&] { RowRing(s[0], s[1], s[2]); }, "take more than");
  RowRing ring(2, sizeof(float));
  const RowRing other = std::move(ring);
  EXPECT_EQ(ring.push(0, kRow), nullptr) << "it was moved away";
  LatencyRecorder recorder;
  for (const std::int64_t ns : {kMin, std::int64_t{0}, kMax}) recorder.record(ns);
  EXPECT_EQ(recorder.count(), 3u);
  for (const double percent : {-1.0, 101.0, 1e300, -1e300}) EXPECT_GT(recorder.percentile(percent), 0);
  EXPECT_EQ(recorder.percentile(NAN), 0);
  EXPECT_GT(LatencyRecorder::bucket_width(kMin) * LatencyRecorder::bucket_width(kMax), 0);
  const HistogramLogEntry none{"tag", nullptr, 0, 0}, entry{"", &recorder, 0, 0};
  expect_refused([&] { histogram_log(0, {&none, 1}); }, "no recorder");
  for (const double began : {double(NAN), 1e300, -1e300}) expect_refused([&] { histogram_log(began, {&entry, 1}); }, "the log began");
}

// What the system says of a socket is the system's reason, never that of another call, or none.
TEST(WrongUse, Sockets) {
  expect_refused([&] { connect_port("/nope/s"); }, "nobody serves '/nope/s': No such file or directory", ErrorKind::io);
  expect_refused([&] { connect_port(""); }, "no path for a socket");
  expect_refused([&] { connect_port(std::string(200, 'a')); }, "no path for a socket");
  const ToyCnn cnn;
  LatencyRunner runner(cnn.engine());
  expect_refused([&] { PortServer(runner, "/nope/s"); }, "cannot serve '/nope/s': No such file or directory", ErrorKind::io);
  const std::string file = "/tmp/tenfold_no_socket_" + std::to_string(::getpid());
  std::ofstream(file) << "x";
  expect_refused([&] { PortServer(runner, file); }, "is no socket");
  expect_refused([&] { connect_port(file); }, "Connection refused", ErrorKind::io);
  ::unlink(file.c_str());
}

}  // namespace
}  // namespace tenfold
