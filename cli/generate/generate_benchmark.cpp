// tenfold generate --benchmark: how long a prompt and the steps behind it take.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

#include "generate/generate.h"
#include "measure/report.h"
#include "stop_signal.h"

namespace tenfold::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Ids = std::vector<std::int32_t>;

double milliseconds(Clock::time_point since) { return std::chrono::duration<double, std::milli>(Clock::now() - since).count(); }

struct Times {
  std::vector<double> prompts, steps;   // ms
};

// Greedy tokens, one behind the other, as a generation feeds them.
void measure(const GenerateWish& w, DecoderSession& session, const Ids& prompt, Times& times) {
  session.truncate(0, 0);
  auto since = Clock::now();
  std::span<const float> logits = session.append(std::vector<Ids>{prompt});
  times.prompts.push_back(milliseconds(since));
  for (int i = 0; i < w.call.max_tokens; ++i) {
    const auto next = static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    since = Clock::now();
    logits = session.append(std::vector<Ids>{{next}});
    times.steps.push_back(milliseconds(since));
  }
}

}  // namespace

void generate_benchmark(const GenerateWish& w, const Decoder& decoder) {
  const DecoderInfo& info = decoder.info();
  if (w.prompt_tokens + w.call.max_tokens > info.max_length)
    throw Error(ErrorKind::invalid_argument, "--promptTokens and --maxTokens are " + std::to_string(w.prompt_tokens + w.call.max_tokens) +
                                                 " together, but a text has " + std::to_string(info.max_length) + " tokens at most");
  std::mt19937 random(1);
  Ids prompt;
  for (int i = 0; i < w.prompt_tokens; ++i)
    prompt.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(info.vocabulary)));
  const StopSignal signals;
  Times times, warm;
  DecoderSession session = decoder.start();   // one, as decoders keep theirs from call to call
  measure(w, session, prompt, warm);
  for (int i = 0; i < w.iterations; ++i) measure(w, session, prompt, times);
  const double prompt_ms = statistics(times.prompts, {}).median, step_ms = times.steps.empty() ? 0 : statistics(times.steps, {}).median;
  const double prompt_rate = w.prompt_tokens / prompt_ms * 1e3, step_rate = step_ms > 0 ? 1e3 / step_ms : 0;
  const std::int64_t bytes = decoder.engine().info().weight_bytes;
  if (w.json) {
    const nlohmann::ordered_json json{{"model", w.model},
                                      {"prompt_tokens", w.prompt_tokens},
                                      {"new_tokens", w.call.max_tokens},
                                      {"prompt_ms", prompt_ms},
                                      {"step_ms", step_ms},
                                      {"prompt_tokens_per_second", prompt_rate},
                                      {"new_tokens_per_second", step_rate},
                                      {"weight_bytes", bytes},
                                      {"cache_bytes", info.cache_bytes}};
    std::printf("%s\n", json.dump(2).c_str());
    return;
  }
  std::printf("%s on %s: weights %.1f MB, cache %.1f MB\n", printable(w.model).c_str(), decoder.engine().info().device.c_str(),
              static_cast<double>(bytes) * 1e-6, static_cast<double>(info.cache_bytes) * 1e-6);
  std::printf("prompt of %d: %.2f ms, %.1f tokens/s; %d steps behind it: %.3f ms each, %.1f tokens/s (medians of %d)\n", w.prompt_tokens,
              prompt_ms, prompt_rate, w.call.max_tokens, step_ms, step_rate, w.iterations);
}

}  // namespace tenfold::cli
