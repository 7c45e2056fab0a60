// tenfold embed --benchmark: how long batches take, from text to vectors.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "embed/embed.h"
#include "formats/files.h"
#include "measure/report.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr double kMaxSeconds = 20;  // of one batch size; a slow machine ends earlier than its iterations
constexpr int kMin = 3;

struct Times {
  std::vector<double> milliseconds;
  double seconds = 0;
  std::int64_t texts = 0, tokens = 0;
};

Times measure(const EmbedWish& w, const Encoder& encoder, const std::vector<std::string>& texts, int batch) {
  Times times;
  std::size_t at = 0;
  std::vector<std::string_view> some;
  const EncodeCall call{.prompt = w.prompt, .progress = {}};
  for (int i = -1; i < w.iterations && (times.seconds < kMaxSeconds || i < kMin); ++i) {
    some.clear();
    for (int n = 0; n < batch; ++n, at = (at + 1) % texts.size()) some.push_back(texts[at]);
    const std::int64_t tokens = encoder.counts().tokens;
    const auto begin = Clock::now();
    encoder.encode(some, call);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (i < 0) continue;  // the first run makes contexts
    times.milliseconds.push_back(seconds * 1e3), times.seconds += seconds;
    times.texts += batch, times.tokens += encoder.counts().tokens - tokens;
  }
  return times;
}

Json json_of(const Times& times, const Statistics& s) {
  return {{"mean_latency_ms", s.mean},
          {"median_latency_ms", s.median},
          {"p99_latency_ms", s.percentiles.front()},
          {"throughput_samples_per_second", static_cast<double>(times.texts) / times.seconds},
          {"tokens_per_second", static_cast<double>(times.tokens) / times.seconds},
          {"iterations", times.milliseconds.size()}};
}

}  // namespace

void embed_benchmark(const EmbedWish& w, const Encoder& encoder, const std::vector<std::string>& texts) {
  encoder.prepare();
  Json json{{"model", w.model}, {"device", devices_text(encoder)}, {"precision", precision_text(encoder)}};
  json["single_query"] = Json::object(), json["batch_sizes"] = Json::object();
  std::printf("%s on %s, %zu texts, from text to vectors\n", printable(w.model).c_str(), devices_text(encoder).c_str(), texts.size());
  std::printf("%-10s %6s %14s %14s %12s %12s %6s\n", "precision", "batch", "texts/s", "tokens/s", "median (ms)", "p99 (ms)", "runs");
  const std::string precision = encoder.devices().front().precision;
  const auto row = [&](int batch) {
    const Times times = measure(w, encoder, texts, batch);
    const Statistics s = statistics(times.milliseconds, {99});
    std::printf("%-10s %6d %14.1f %14.0f %12.3f %12.3f %6zu\n", precision.c_str(), batch, static_cast<double>(times.texts) / times.seconds,
                static_cast<double>(times.tokens) / times.seconds, s.median, s.percentiles.front(), times.milliseconds.size());
    std::fflush(stdout);
    return json_of(times, s);
  };
  for (const int batch : w.batch_sizes) {
    json["batch_sizes"][std::to_string(batch)] = row(batch);
    if (batch == 1) json["single_query"] = json["batch_sizes"]["1"];
  }
  if (w.json.empty()) return;
  if (json["single_query"].empty()) json["single_query"] = row(1);
  std::ofstream out(w.json, std::ios::binary);
  out << json.dump(2) << "\n";
  out.flush();
  if (!out) throw Error(ErrorKind::io, "cannot write '" + w.json + "'");
}

}  // namespace tenfold::cli
