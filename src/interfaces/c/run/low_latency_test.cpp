// Low latency from C: a fallback chain becomes a runner, which answers in this thread and through a port; rows; histograms.
#include <filesystem>
#include <string_view>

#include "low_latency/sliding_for_tests.h"
#include "tenfold/c/latency.h"
#include "tenfold/c/low_latency.h"
#include "tenfold/c/values.h"

namespace tenfold {
namespace {

using low_latency::ToyCnn;

template <class T>
T sized() {
  T info{};
  info.struct_size = sizeof info;
  return info;
}
void ok(tenfold_status status) { ASSERT_EQ(status, TENFOLD_OK) << tenfold_status_name(status) << ": " << tenfold_last_error(); }

TEST(CLowLatency, ARunnerOfAFallbackChain) {
  const ToyCnn cnn;
  const std::string plan = (std::filesystem::temp_directory_path() / ("c_low_latency_" + std::to_string(::getpid()) + ".plan")).string();
  cnn.engine().save(plan);
  tenfold_fallback_chain* fallback_chain = nullptr;
  ok(tenfold_fallback_chain_create(&fallback_chain));
  ok(tenfold_fallback_chain_add_plan(fallback_chain, "/nowhere.plan", nullptr));
  ok(tenfold_fallback_chain_add_plan(fallback_chain, plan.c_str(), nullptr));
  auto options = sized<tenfold_latency_runner_options>();
  options.not_finite = TENFOLD_NOT_FINITE_FAIL, options.deadline_ns = 10'000'000'000, options.warm_up_runs = 3;
  tenfold_latency_runner* runner = nullptr;
  ok(tenfold_latency_runner_create(fallback_chain, &options, &runner));
  int64_t in = 0, out = 0, offset = -1;
  ok(tenfold_latency_runner_sizes(runner, &in, &out));
  EXPECT_EQ(in, 128);
  ok(tenfold_latency_runner_offset(runner, 1, &offset));
  EXPECT_EQ(offset, 0);
  EXPECT_EQ(tenfold_latency_runner_offset(runner, 2, &offset), TENFOLD_INVALID_ARGUMENT);
  const char *name = nullptr, *why = nullptr;
  ok(tenfold_latency_runner_backend(runner, &name));
  EXPECT_EQ(name, plan);
  EXPECT_EQ(tenfold_latency_runner_candidates(runner), 2);
  auto candidate = sized<tenfold_candidate_state>();
  ok(tenfold_latency_runner_candidate(runner, 0, &candidate));
  EXPECT_EQ(candidate.opened, 0);
  EXPECT_NE(std::string_view(candidate.why).find("/nowhere.plan"), std::string_view::npos);

  std::vector<float> x = cnn.input(4);
  const std::vector<double> truth = cnn.answer(x.data());
  alignas(64) float y[16] = {};
  tenfold_answer answer{};
  ok(tenfold_latency_runner_infer(runner, x.data(), y, 5, &answer));
  EXPECT_NEAR(y[0], truth[0], 1e-3);
  EXPECT_EQ(answer.candidate, 1);
  EXPECT_EQ(answer.due_ns, 5);
  EXPECT_EQ(answer.late, 1) << "it was due long ago";
  x[0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(tenfold_latency_runner_infer(runner, x.data(), y, 0, &answer), TENFOLD_RUN_FAILED);
  EXPECT_EQ(answer.not_finite, 1);
  tenfold_latency_runner_keep_warm(runner);
  EXPECT_EQ(tenfold_latency_runner_infer(runner, nullptr, y, 0, nullptr), TENFOLD_INVALID_ARGUMENT);

  tenfold_latency_runner_port* port = nullptr;
  EXPECT_EQ(tenfold_latency_runner_open_port(runner, 8, 3, &port), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_latency_runner_open_port(runner, 0, TENFOLD_FULL_REJECT, &port), TENFOLD_INVALID_ARGUMENT);
  ok(tenfold_latency_runner_open_port(runner, 8, TENFOLD_FULL_DROP_OLDEST, &port));
  const std::string path = "/tmp/tenfold_c_" + std::to_string(::getpid());
  tenfold_port_server* server = nullptr;
  EXPECT_EQ(tenfold_port_server_start(runner, path.c_str(), 8, TENFOLD_FULL_REJECT, 0, &server), TENFOLD_INVALID_ARGUMENT);
  ok(tenfold_port_server_start(runner, path.c_str(), 8, TENFOLD_FULL_REJECT, 2, &server));
  tenfold_latency_runner_thread* thread = nullptr;
  auto how = sized<tenfold_latency_runner_thread_options>();
  how.sleeps = 1, how.spin_ns = 100'000;
  ok(tenfold_latency_runner_thread_start(&runner, 1, &how, &thread));
  EXPECT_GT(tenfold_latency_runner_thread_id(thread), 0);
  EXPECT_EQ(tenfold_latency_runner_infer(runner, x.data(), y, 0, nullptr), TENFOLD_RUN_NOT_READY);
  x[0] = cnn.input(4)[0], y[1] = 0;
  EXPECT_EQ(tenfold_latency_runner_port_submit(port, 77, x.data(), 0), 1);
  while (!tenfold_latency_runner_port_poll(port, &answer, y)) std::this_thread::yield();
  EXPECT_EQ(answer.id, 77u);
  EXPECT_NEAR(y[1], truth[1], 1e-3);
  tenfold_latency_runner_port* shared = nullptr;
  EXPECT_EQ(tenfold_latency_runner_port_connect("/no/such/socket", &shared), TENFOLD_IO);
  ok(tenfold_latency_runner_port_connect(path.c_str(), &shared));
  EXPECT_EQ(tenfold_latency_runner_port_served(shared), 1);
  ok(tenfold_latency_runner_port_sizes(shared, &in, &out));
  EXPECT_EQ(in, 128);
  ok(tenfold_latency_runner_port_offset(shared, 0, &offset));
  auto binding = sized<tenfold_binding_info>();
  ok(tenfold_latency_runner_port_binding(shared, 1, &binding));
  EXPECT_STREQ(binding.name, "output");
  EXPECT_EQ(tenfold_latency_runner_port_binding(shared, 2, &binding), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_latency_runner_port_submit(shared, 78, x.data(), 0), 1);
  while (!tenfold_latency_runner_port_poll(shared, &answer, y)) std::this_thread::yield();
  EXPECT_EQ(answer.id, 78u);
  EXPECT_TRUE(low_latency::comes_true([&] { return tenfold_port_server_clients(server) == 1; }));
  tenfold_latency_runner_port_free(shared);
  tenfold_port_server_stop(server);
  int32_t ready = 0;
  ok(tenfold_latency_runner_ready(runner, &ready, &why));
  EXPECT_EQ(ready, 1);
  auto port_counts = sized<tenfold_latency_runner_port_numbers>();
  ok(tenfold_latency_runner_port_counts(port, &port_counts));
  EXPECT_EQ(port_counts.submitted, 1u);
  EXPECT_EQ(port_counts.polled, 1u);

  EXPECT_EQ(tenfold_latency_runner_swap(runner, nullptr, nullptr), TENFOLD_INVALID_ARGUMENT);
  ok(tenfold_latency_runner_swap(runner, nullptr, fallback_chain));
  auto counts = sized<tenfold_latency_runner_numbers>();
  ok(tenfold_latency_runner_counts(runner, &counts));
  EXPECT_EQ(counts.answered, 4u);
  EXPECT_EQ(counts.swaps, 1u);
  EXPECT_EQ(counts.not_finite, 1u);
  tenfold_latency_runner_thread_stop(thread);
  tenfold_latency_runner_port_free(port);
  tenfold_latency_runner_free(runner);
  tenfold_fallback_chain_free(fallback_chain);
  std::filesystem::remove(plan);
}

TEST(CLowLatency, TheNewestRow) {
  const std::string plan = (std::filesystem::temp_directory_path() / ("c_newest_row_" + std::to_string(::getpid()) + ".plan")).string();
  low_latency::SlidingLstm::engine("x:1").save(plan);
  tenfold_engine* engine = nullptr;
  ok(tenfold_engine_load(plan.c_str(), &engine));
  int32_t input = -2, axis = -2;
  ok(tenfold_engine_window_rows(engine, &input, &axis));
  EXPECT_EQ(input, 0);
  EXPECT_EQ(axis, 1);
  tenfold_latency_runner* runner = nullptr;
  ok(tenfold_latency_runner_create_for(engine, nullptr, &runner));
  EXPECT_EQ(tenfold_latency_runner_precompute(runner, nullptr), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_latency_runner_precompute(nullptr, &input), TENFOLD_INVALID_ARGUMENT);
  std::vector<float> window = low_latency::sliding_window(0, 0);
  float early[low_latency::SlidingLstm::kUnits] = {}, whole[low_latency::SlidingLstm::kUnits] = {};
  tenfold_answer answer{};
  ok(tenfold_latency_runner_precompute(runner, window.data()));
  window.back() += 1;
  ok(tenfold_latency_runner_infer(runner, window.data(), early, 1, &answer));
  EXPECT_EQ(answer.full_recompute, 0);
  EXPECT_EQ(answer.late_start, 1) << "it was due long ago";
  ok(tenfold_latency_runner_infer(runner, window.data(), whole, 0, &answer));
  EXPECT_EQ(answer.full_recompute, 1);
  EXPECT_EQ(answer.late_start, 0);
  for (int i = 0; i < low_latency::SlidingLstm::kUnits; ++i) EXPECT_NEAR(early[i], whole[i], 1e-6);
  auto counts = sized<tenfold_latency_runner_numbers>();
  ok(tenfold_latency_runner_counts(runner, &counts));
  EXPECT_EQ(counts.late_start, 1u);
  EXPECT_EQ(counts.full_recompute, 1u);
  tenfold_latency_runner_free(runner);
  tenfold_engine_free(engine);
  std::filesystem::remove(plan);
}

TEST(CLowLatency, RowsAndHistograms) {
  tenfold_row_ring* ring = nullptr;
  EXPECT_EQ(tenfold_row_ring_create(0, 4, 1, &ring), TENFOLD_INVALID_ARGUMENT);
  ok(tenfold_row_ring_create(3, 4, 2, &ring));
  const float *window = nullptr, rows[] = {1, 2, 3, 4};
  for (const float& row : rows) window = static_cast<const float*>(tenfold_row_ring_push(ring, 1, &row));
  EXPECT_EQ(std::vector<float>(window, window + 3), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(tenfold_row_ring_window(ring, 1), window);
  EXPECT_EQ(tenfold_row_ring_window(ring, 2), nullptr);
  EXPECT_EQ(tenfold_row_ring_filled(ring, 1), 3);
  tenfold_row_ring_clear(ring, 1);
  EXPECT_EQ(tenfold_row_ring_filled(ring, 1), 0);
  tenfold_row_ring_free(ring);

  tenfold_latency_recorder *recorder = nullptr, *other = nullptr;
  ok(tenfold_latency_recorder_create(&recorder)), ok(tenfold_latency_recorder_create(&other));
  for (int64_t i = 1; i <= 1000; ++i) tenfold_latency_recorder_record(other, i);
  tenfold_latency_recorder_add(recorder, other), tenfold_latency_recorder_clear(other);
  EXPECT_EQ(tenfold_latency_recorder_percentile(recorder, 99), 990);
  EXPECT_EQ(tenfold_latency_recorder_percentile(other, 99), 0);
  EXPECT_EQ(tenfold_latency_recorder_bucket_width(5000), 4);
  auto summary = sized<tenfold_latency_summary>();
  ok(tenfold_latency_recorder_summary(recorder, &summary));
  EXPECT_EQ(summary.count, 1000u);
  EXPECT_EQ(summary.min_ns, 1);
  EXPECT_EQ(summary.max_ns, 1000);
  EXPECT_NEAR(summary.mean_ns, 500.5, 1e-9);
  const char* text = nullptr;
  ok(tenfold_latency_recorder_encode(recorder, &text));
  const std::string encoded = text;
  ok(tenfold_latency_recorder_log(recorder, "ring", 0, 1, &text));
  EXPECT_NE(std::string(text).find("Tag=ring,0.000,1.000,0.001," + encoded), std::string::npos) << text;
  EXPECT_EQ(tenfold_latency_recorder_log(recorder, "a b", 0, 1, &text), TENFOLD_INVALID_ARGUMENT);
  ok(tenfold_latency_recorder_distribution(recorder, &text));
  EXPECT_NE(std::string_view(text).find("Total count    =         1000"), std::string_view::npos);
  tenfold_latency_recorder_free(recorder), tenfold_latency_recorder_free(other);
}

}  // namespace
}  // namespace tenfold
