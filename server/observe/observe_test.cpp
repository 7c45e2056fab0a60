// Contexts of traces, their settings, spans as JSON, Prometheus' text, last errors.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <thread>

#include "observe/last_errors.h"
#include "observe/log.h"
#include "observe/otlp.h"
#include "observe/prometheus_text.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

const std::string kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(Traceparent, IsRead) {
  const auto context = parse_traceparent(kParent);
  ASSERT_TRUE(context);
  EXPECT_EQ(hex(context->trace), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(hex(context->span), "b7ad6b7169203331");
  EXPECT_TRUE(context->sampled);
  EXPECT_FALSE(parse_traceparent(kParent.substr(0, 53) + "00")->sampled);
  EXPECT_TRUE(parse_traceparent("cc" + kParent.substr(2) + "-what-comes-later"));
}

TEST(Traceparent, IsIgnoredWhereItIsWrong) {
  const std::string zeros(32, '0');
  for (const std::string& text :
       {std::string(), std::string("00"), kParent + "-more", "ff" + kParent.substr(2), "00-" + zeros + kParent.substr(35),
        kParent.substr(0, 36) + zeros.substr(0, 16) + "-01", kParent.substr(0, 3) + "0AF7651916CD43DD" + kParent.substr(19),
        kParent.substr(0, 54) + "g", "cc" + kParent.substr(2) + "x", kParent.substr(0, 54)})
    EXPECT_FALSE(parse_traceparent(text)) << text;
}

TEST(Traceparent, NewOnesDiffer) {
  EXPECT_NE(new_trace().trace, new_trace().trace);
  EXPECT_NE(new_span(), new_span());
  EXPECT_EQ(batch_context("m", "1", 5).span, batch_context("m", "1", 5).span);
  EXPECT_NE(batch_context("m", "1", 5).span, batch_context("m", "1", 6).span);
  EXPECT_NE(batch_context("m", "1", 5).trace, batch_context("n", "1", 5).trace);
}

TEST(TraceSettings, TakeTheRateTheCountAndWhoCalled) {
  TraceSettings settings;
  EXPECT_FALSE(settings.sample("m", true));  // the level is OFF
  settings.start({true, 3, 4});
  int sampled = 0;
  for (int i = 0; i < 6; ++i) sampled += settings.sample("m", false);
  EXPECT_EQ(sampled, 2);
  EXPECT_TRUE(settings.sample("m", true));
  EXPECT_EQ(settings.get("m").count, 1);
  EXPECT_TRUE(settings.sample("other", true));
  EXPECT_FALSE(settings.sample("other", true));
}

TEST(TraceSettings, OfAModelHideThoseOfAll) {
  TraceSettings settings;
  settings.start({false, 1000, -1});
  settings.update("m", {{"trace_rate", {"7"}}, {"trace_level", {"TIMESTAMPS"}}});
  settings.update("", {{"trace_rate", {"5"}}});
  EXPECT_EQ(settings.get("m").rate, 7u);
  EXPECT_EQ(settings.get("other").rate, 5u);
  EXPECT_FALSE(settings.get("other").timestamps);
  settings.update("m", {{"trace_rate", {}}});
  EXPECT_EQ(settings.get("m").rate, 5u);
  settings.update("", {{"trace_rate", {}}});
  EXPECT_EQ(settings.get("m").rate, 1000u);
  EXPECT_THROW(settings.update("m", {{"trace_level", {"OFF"}}, {"trace_rate", {"0"}}}), Error);
  EXPECT_TRUE(settings.get("m").timestamps);  // all of an update, or none
}

TEST(Otlp, HasASpanForABatchOnce) {
  OtlpSpans spans(std::map<std::string, std::string>{{"service.name", "a \"name\""}});
  std::deque<std::unique_ptr<RequestTrace>> traces;
  const auto now = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {
    auto trace = std::make_unique<RequestTrace>();
    trace->request = new_trace(), trace->request.span = new_span();
    trace->model = "m", trace->version = "1", trace->id = "\x01\xff\"";
    trace->received = trace->queued = trace->end = now;
    if (i < 2)
      trace->run = BatchRun{2, 5, now, now, now, now};
    else
      trace->error = "it \"failed\"";
    traces.push_back(std::move(trace));
  }
  simdjson::dom::parser parser;
  const std::string json = spans.json(traces);
  const simdjson::dom::element parsed = parser.parse(json);
  std::map<std::string, int> names;
  for (const simdjson::dom::element span : parsed["resourceSpans"].at(0)["scopeSpans"].at(0)["spans"].get_array())
    ++names[std::string(span["name"].get_string().value())];
  EXPECT_EQ(names, (std::map<std::string, int>{{"InferRequest", 3}, {"m", 3}, {"compute", 2}, {"batch", 1}}));
}

TEST(Otlp, GoesToHttpOnly) {
  EXPECT_EQ(parse_trace_url("localhost:4318/v1/traces").port, "4318");
  EXPECT_EQ(parse_trace_url("http://[::1]:80/x").host, "::1");
  EXPECT_EQ(parse_trace_url("collector").path, "/v1/traces");
  for (const char* url : {"https://x", "", ":4318", "x:y/z", "a b", "user@x", "x\r\ny"}) EXPECT_THROW(parse_trace_url(url), Error) << url;
}

TEST(PrometheusText, IsWhatParsersRead) {
  PrometheusText text;
  text.sample("a", "", std::uint64_t{7});
  text.sample("b", "model=\"" + label_value("x\"y\\z\n") + "\"", 0.5);
  text.histogram("h", "m=\"1\"", {{1, 2.5}, {3, 0, 2}}, 12'500);
  text.histogram("s", "", {{50}, {1, 0}}, 1'000'000, 1e-6);
  EXPECT_EQ(text.take(),
            "a 7\nb{model=\"x\\\"y\\\\z\\n\"} 0.5\n"
            "h_bucket{m=\"1\",le=\"1\"} 3\nh_bucket{m=\"1\",le=\"2.5\"} 3\nh_bucket{m=\"1\",le=\"+Inf\"} 5\nh_sum{m=\"1\"} 12.5\n"
            "h_count{m=\"1\"} 5\ns_bucket{le=\"5e-05\"} 1\ns_bucket{le=\"+Inf\"} 1\ns_sum 0.001\ns_count 1\n");
}

TEST(LastErrors, CountsEqualOnesAndKeepsTheNewest) {
  LastErrors errors;
  for (int i = 0; i < 12; ++i) errors.add("e" + std::to_string(i)), errors.add("same");
  errors.add(std::string(10'000, 'x'));
  const auto rows = errors.get();
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows[0].message.size(), 300u);
  EXPECT_EQ(rows[1].message, "same");
  EXPECT_EQ(rows[1].count, 12u);
}

TEST(Log, RefusesAFileThatCannotBeOpened) {
  LogSettings settings = log_settings();
  settings.file = "/nowhere/log", settings.info = false;
  EXPECT_THROW(set_log_settings(settings), Error);
  EXPECT_TRUE(log_settings().info);
}

}  // namespace
}  // namespace tenfold::server
