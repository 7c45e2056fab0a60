// Runners and their threads: answers, rings, what is told of each answer, engines that are replaced under load.
#include <algorithm>

#include "base/types/element.h"
#include "low_latency/low_latency_for_tests.h"
#include "low_latency/ring/messages.h"

namespace tenfold {
namespace {

using namespace low_latency;
using namespace std::chrono_literals;

void expect_right(const ToyCnn& cnn, unsigned number, const float* y) {
  const std::vector<double> truth = cnn.answer(cnn.input(number).data());
  for (std::size_t i = 0; i < truth.size(); ++i) EXPECT_NEAR(y[i], truth[i], 1e-4 + 1e-3 * std::abs(truth[i])) << number;
}

TEST(LatencyRunner, AnswersInTheCallersThread) {
  const ToyCnn cnn;
  LatencyRunner runner(cnn.engine());
  EXPECT_EQ(runner.input_bytes(), 128);
  EXPECT_EQ(runner.output_bytes(), 8);
  EXPECT_EQ(runner.offset(0), 0);
  EXPECT_THROW(runner.offset(2), Error);
  for (unsigned n = 0; n < 20; ++n) {
    alignas(64) float y[16] = {};
    const std::int64_t before = now_ns();
    const Answer a = runner.infer(cnn.input(n).data(), y, before - 1000);
    ASSERT_TRUE(a.status);
    expect_right(cnn, n, y);
    EXPECT_EQ(a.candidate, 0);
    EXPECT_EQ(a.due_ns, before - 1000);
    EXPECT_TRUE(before <= a.started_ns && a.started_ns <= a.ended_ns && a.ended_ns <= now_ns());
    EXPECT_FALSE(a.late || a.not_finite);
  }
  EXPECT_EQ(runner.counts().answered, 20u);
  EXPECT_EQ(runner.backend(), "engine");
  EXPECT_TRUE(runner.ready());
}

TEST(LatencyRunner, SeveralInputsAndOutputsLieAtMultiplesOf64Bytes) {
  Network net;
  const auto a = net.input("a", DType::f32, {1, 3}), b = net.input("b", DType::f32, {1, 20}), c = net.input("c", DType::f32, {1, 3});
  net.mark_output(net.elementwise(Elementwise::sum, a, c), "sum"), net.mark_output(net.unary(Unary::neg, b), "neg");
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  LatencyRunner runner(build(net, config));
  EXPECT_EQ(runner.input_bytes(), 192 + 12);
  EXPECT_EQ(runner.output_bytes(), 64 + 80);
  std::vector<std::byte> in(204), out(144);  // no byte more is read or written (ASan)
  const auto at = [&](std::vector<std::byte>& message, int binding) {
    return reinterpret_cast<float*>(message.data() + runner.offset(binding));
  };
  for (int i = 0; i < 3; ++i) at(in, 0)[i] = static_cast<float>(i), at(in, 2)[i] = 10;
  for (int i = 0; i < 20; ++i) at(in, 1)[i] = static_cast<float>(i);
  RunnerPort port = runner.open_port();
  ASSERT_TRUE(runner.infer(in.data(), out.data()).status);
  for (const bool through_rings : {false, true}) {
    if (through_rings) {
      std::fill(out.begin(), out.end(), std::byte{});
      RunnerThread thread({&runner});
      ASSERT_TRUE(port.submit(1, in.data()));
      for (Answer answer; !port.poll(answer, out.data());) std::this_thread::yield();
    }
    for (int i = 0; i < 3; ++i) EXPECT_EQ(at(out, 3)[i], static_cast<float>(i + 10));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(at(out, 4)[i], static_cast<float>(-i));
  }
}

TEST(LatencyRunner, AnswersThroughRingsInOrder) {
  const ToyCnn cnn, other(7);
  LatencyRunner runner(cnn.engine()), second(other.engine());
  RunnerPort port = runner.open_port({.slots = 8}), beside = second.open_port({.slots = 8});
  RunnerThread thread({&runner, &second});
  EXPECT_EQ(runner.infer(cnn.input(0).data(), nullptr).status.code, Status::not_ready) << "the thread has it";
  EXPECT_THROW(runner.open_port(), Error);
  EXPECT_THROW(RunnerThread({&runner}), Error);
  unsigned sent = 0, got = 0, got_beside = 0;
  alignas(64) float y[16];
  for (Answer a; got < 1000 || got_beside < 1000;) {
    if (sent < 1000 && sent < got + 8 && sent < got_beside + 8) {
      ASSERT_TRUE(port.submit(sent, cnn.input(sent).data()));
      ASSERT_TRUE(beside.submit(sent, cnn.input(sent).data()));
      ++sent;
    }
    if (port.poll(a, y)) {
      ASSERT_EQ(a.id, got);
      expect_right(cnn, got++, y);
    }
    if (beside.poll(a, y)) {
      ASSERT_EQ(a.id, got_beside);
      expect_right(other, got_beside++, y);
    }
  }
  EXPECT_EQ(port.counts().dropped + port.counts().rejected + port.counts().answers_dropped, 0u);
  EXPECT_TRUE(runner.ready());
}

TEST(LatencyRunner, FullRingsRejectOrDropAndNeverWait) {
  const Troubled slow;
  LatencyRunner runner({slow.candidate("slow")}, {.warm_up_runs = 1});
  slow.wish->sleep_ns = 100'000'000;
  RunnerPort rejecting = runner.open_port({.slots = 2}), dropping = runner.open_port({.slots = 2, .when_full = WhenFull::drop_oldest}),
             newest = runner.open_port({.slots = 2, .when_full = WhenFull::keep_newest});
  EXPECT_THROW(runner.open_port({.slots = 0}), Error);
  EXPECT_THROW(runner.open_port({.slots = 40000}), Error);
  const float x[16] = {1, 2, 3, 4};
  {
    RunnerThread thread({&runner});
    for (RunnerPort* port : {&rejecting, &dropping, &newest}) {
      const std::int64_t start = now_ns();
      for (unsigned i = 0; i < 20; ++i) port->submit(i, x);
      EXPECT_LT(now_ns() - start, 80'000'000) << "nothing waits for the 100 ms of a run";
    }
  }   // what was taken is answered before the thread ends
  EXPECT_GE(rejecting.counts().rejected, 16u);
  EXPECT_GE(dropping.counts().dropped, 16u);
  Answer a;
  std::vector<std::uint64_t> ids;
  while (dropping.poll(a, nullptr)) ids.push_back(a.id);
  ASSERT_GE(ids.size(), 2u);
  EXPECT_EQ(ids[ids.size() - 2], 18u);
  EXPECT_EQ(ids.back(), 19u);
  ids.clear();
  while (newest.poll(a, nullptr)) ids.push_back(a.id);
  EXPECT_EQ(ids.back(), 19u);
  for (const RunnerPort* port : {&rejecting, &dropping, &newest}) {
    const RunnerPort::Counts c = port->counts();
    EXPECT_EQ(c.submitted, 20u);
    EXPECT_LE(c.polled + c.rejected + c.dropped, 20u);
  }
  EXPECT_FALSE(newest.submit(20, x)) << "nobody serves it any more";
}

TEST(LatencyRunner, ASleepingThreadIsWoken) {
  const ToyCnn cnn;
  LatencyRunner runner(cnn.engine());
  RunnerPort port = runner.open_port();
  RunnerThread thread({&runner}, {.spin = 0ns});
  alignas(64) float y[16];
  for (unsigned i = 0; i < 50; ++i) {
    std::this_thread::sleep_for(i % 5 == 0 ? 5ms : 0ms);
    const std::int64_t start = now_ns();
    ASSERT_TRUE(port.submit(i, cnn.input(i).data()));
    Answer a;
    while (!port.poll(a, y) && now_ns() - start < 900'000'000) std::this_thread::yield();
    ASSERT_LT(now_ns() - start, 900'000'000) << "it was not woken";
    EXPECT_EQ(a.id, i);
  }
}

TEST(LatencyRunner, TellsAndCountsWhatIsNotFinite) {
  for (const NotFinite policy : {NotFinite::pass, NotFinite::fail}) {
    const Troubled t;
    LatencyRunner runner({t.candidate("x + 1")}, {.not_finite = policy});
    float x[16] = {1, 2, 3, 4}, y[16] = {};
    EXPECT_FALSE(runner.infer(x, y).not_finite);
    EXPECT_EQ(y[3], 5);
    t.wish->not_a_number = true;
    Answer a = runner.infer(x, y);
    EXPECT_TRUE(a.not_finite);
    EXPECT_EQ(static_cast<bool>(a.status), policy == NotFinite::pass);
    t.wish->not_a_number = false;
    for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::quiet_NaN()}) {
      x[2] = bad;
      const int runs = t.wish->runs;
      a = runner.infer(x, y);
      EXPECT_TRUE(a.not_finite);
      EXPECT_EQ(static_cast<bool>(a.status), policy == NotFinite::pass);
      EXPECT_EQ(t.wish->runs - runs, policy == NotFinite::pass ? 1 : 0) << "an input that fails is not computed";
    }
    EXPECT_EQ(runner.counts().not_finite, 3u);
    EXPECT_EQ(runner.counts().failed, policy == NotFinite::fail ? 3u : 0u);
  }
}

TEST(LatencyRunner, SeesWhatIsNotFiniteAnywhere) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    const std::int64_t count = 133;  // vectors and a rest
    const std::vector<MessageTensor> parts = {{0, 0, byte_size(type, count), count, type}};
    std::vector<std::byte> message(static_cast<std::size_t>(parts[0].bytes));
    for (std::int64_t i = 0; i < count; ++i) store_double(type, message.data(), i, i % 2 ? -65504.0 : 6e-5);
    EXPECT_TRUE(all_finite(parts, message.data())) << name(type);
    for (std::int64_t i = 0; i < count; ++i)
      for (const double bad :
           {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        store_double(type, message.data(), i, bad);
        EXPECT_FALSE(all_finite(parts, message.data())) << name(type) << " " << i;
        store_double(type, message.data(), i, 1);
      }
    EXPECT_TRUE(all_finite(parts, message.data()));
  }
}

TEST(LatencyRunner, AHangingThreadIsToldByReady) {
  const Troubled t;
  LatencyRunner runner({t.candidate("hangs")}, {.warm_up_runs = 1, .longest_silence = 200ms});
  RunnerPort port = runner.open_port();
  RunnerThread thread({&runner});
  EXPECT_TRUE(runner.ready());
  t.wish->sleep_ns = 700'000'000;
  const float x[16] = {};
  port.submit(1, x);
  std::string why;
  EXPECT_TRUE(comes_true([&] { return !runner.ready(&why); }));
  EXPECT_NE(why.find("no sign of life for"), std::string::npos) << why;
  EXPECT_TRUE(comes_true([&] { return runner.ready(); })) << "it goes on";
}

void swap_under_load(int swaps) {
  const ToyCnn a(1), b(2);
  const Engine engine_a = a.engine(), engine_b = b.engine();
  LatencyRunner runner(engine_a);
  RunnerPort port = runner.open_port({.slots = 16});
  RunnerThread thread({&runner});
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> progress = 0;
  std::uint64_t sent = 0, got = 0, wrong = 0, from_a = 0, from_b = 0;
  std::thread client([&] {
    alignas(64) float y[16];
    std::vector<std::vector<float>> inputs;
    std::vector<std::vector<double>> by_a, by_b;
    for (unsigned i = 0; i < 32; ++i) {
      inputs.push_back(a.input(i));
      by_a.push_back(a.answer(inputs.back().data())), by_b.push_back(b.answer(inputs.back().data()));
    }
    const auto is = [&](const std::vector<double>& truth) {
      return std::abs(y[0] - truth[0]) < 1e-3 && std::abs(y[1] - truth[1]) < 1e-3;
    };
    for (Answer answer; !done || got < sent;) {
      if (!done && sent < got + 16) sent += port.submit(sent, inputs[sent % 32].data());
      if (!port.poll(answer, y)) continue;
      wrong += answer.id != got || !answer.status || (!is(by_a[got % 32]) && !is(by_b[got % 32]));
      from_a += is(by_a[got % 32]), from_b += is(by_b[got % 32]);
      progress = ++got;
    }
  });
  std::vector<RetiredEngine> old;
  for (int i = 0; i < swaps; ++i) {
    const std::uint64_t seen = progress;
    while (progress == seen) std::this_thread::yield();   // each set answers something
    old.push_back(runner.swap(i % 2 ? engine_a : engine_b));
  }
  done = true;
  client.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(got, sent);
  EXPECT_GT(from_a, 0u);
  EXPECT_GT(from_b, 0u);
  EXPECT_EQ(runner.counts().swaps, static_cast<std::uint64_t>(swaps));
  for (const RetiredEngine& engine : old) EXPECT_TRUE(engine.wait(10s)) << "nobody has it any more";
}

TEST(LatencyRunner, AHundredSwapsLoseAndMixNothing) { swap_under_load(100); }

TEST(LatencyRunner, ABadNewEngineLeavesTheOldOneServing) {
  const ToyCnn cnn;
  const Troubled other;
  LatencyRunner runner(cnn.engine());
  alignas(64) float y[16];
  EXPECT_THROW(runner.swap({{"bad", []() -> Engine { throw Error(ErrorKind::plan_refused, "cut"); }}}), Error);
  try {
    runner.swap({other.candidate("another shape")});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("input 'x' f32[1x4] against input 'input' f32[1x1x32]"), std::string::npos) << e.what();
  }
  const Troubled first, second;
  LatencyRunner four({first.candidate("first")});
  second.wish->fail = true;
  EXPECT_THROW(four.swap({second.candidate("fails when it is warmed")}), Error);
  ASSERT_TRUE(runner.infer(cnn.input(3).data(), y).status);
  expect_right(cnn, 3, y);
  EXPECT_EQ(runner.counts().swaps, 0u);
}

TEST(LatencyRunner, RefusesOpenShapesAndWhatIsImpossible) {
  Network net;
  net.mark_output(net.activation(Activation::relu, net.input("x", DType::f32, {"batch", 3})), "y");
  BuildConfig config;
  config.profiles = {{{"x", {{1, 3}, {2, 3}, {4, 3}}}}};
  config.optimization_level = 0, config.threads = 1;
  try {
    LatencyRunner runner(build(net, config));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("input 'x' has the shape -1x3"), std::string::npos) << e.what();
  }
  EXPECT_THROW(LatencyRunner(std::vector<EngineCandidate>{}), Error);
  const ToyCnn cnn;
  EXPECT_THROW(LatencyRunner(cnn.engine(), {.deadline = -1ns}), Error);
  LatencyRunner runner(cnn.engine());
  EXPECT_THROW(RunnerThread({}), Error);
  EXPECT_THROW(RunnerThread({&runner, nullptr}), Error);
  EXPECT_THROW(RunnerThread({&runner}, {.cpu = 4000}), Error);
  EXPECT_THROW(RunnerThread({&runner}, {.priority = 100}), Error);
  alignas(64) float y[16];
  EXPECT_TRUE(runner.infer(cnn.input(0).data(), y).status) << "a thread that did not begin leaves the LatencyRunner free";
}

}  // namespace
}  // namespace tenfold
