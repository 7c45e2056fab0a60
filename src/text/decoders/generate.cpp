#include "text/decoders/generate.h"

#include <algorithm>
#include <chrono>

#include "text/decoders/sampling.h"
#include "text/decoders/text_stream.h"
#include "text/fail.h"

namespace tenfold::decoders {

using tokenizing::fail;

namespace {

// One sequence of a call.
struct Writer {
  Generated result;
  Sampler sampler;
  TextStream stream;
  std::vector<std::int32_t> ids;   // prompt and new tokens
  bool ended = false;

  void end(Finish why) { result.finish = why, ended = true; }
};

bool is_end(const DecoderInfo& info, std::int32_t token) { return std::count(info.end_tokens.begin(), info.end_tokens.end(), token) > 0; }

// Takes the next token of a sequence; false: it has ended.
void take(Writer& w, std::size_t number, std::span<float> logits, const DecoderInfo& info, const GenerateCall& call) {
  if (call.logits) call.logits(number, w.ids, logits);
  const std::int32_t token = w.sampler.next(logits, w.ids);
  if (!call.ignore_end && is_end(info, token)) return w.end(Finish::end_token);
  w.result.ids.push_back(token), w.ids.push_back(token);
  const std::string piece = w.stream.add(token);
  if (w.stream.stopped()) w.end(Finish::stop_text);
  if (call.token && !call.token(number, token, piece) && !w.ended) return w.end(Finish::callback);
  if (w.ended) return;
  if (static_cast<int>(w.result.ids.size()) >= call.max_tokens) return w.end(Finish::max_tokens);
  if (static_cast<int>(w.ids.size()) >= info.max_length) w.end(Finish::max_length);
}

// What was held back is told behind the last token.
void finish(Writer& w, std::size_t number, const GenerateCall& call) {
  const std::string rest = w.stream.rest();
  if (call.token && !rest.empty() && w.result.finish != Finish::callback) call.token(number, -1, rest);
  w.result.text = w.stream.text();
}

bool stops(const GenerateCall& call) {
  return call.run.token.cancelled() || (call.run.deadline && std::chrono::steady_clock::now() >= *call.run.deadline);
}

}  // namespace

void check(const GenerateCall& call) {
  if (call.max_tokens < 0)
    fail(ErrorKind::invalid_argument, "max_tokens is " + std::to_string(call.max_tokens) + ", 0 or more was expected");
  for (const std::string& one : call.stop)
    if (one.empty()) fail(ErrorKind::invalid_argument, "a stop text is empty");
  check(call.sampling);
}

std::vector<Generated> generate(DecoderSession& session, std::span<const std::vector<std::int32_t>> prompts, std::size_t first,
                                const DecoderInfo& info, const Tokenizer& tokenizer, const GenerateCall& call, Clock& clock) {
  std::vector<Writer> writers;
  std::vector<std::vector<std::int32_t>> next(prompts.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const std::size_t kept = session.ids(static_cast<int>(i)).size();
    writers.push_back({.result = {.prompt_tokens = static_cast<int>(prompts[i].size()), .reused_tokens = static_cast<int>(kept)},
                       .sampler = Sampler(call.sampling, call.sampling.seed + first + i),
                       .stream = TextStream(tokenizer, call.stop),
                       .ids = prompts[i]});
    next[i].assign(prompts[i].begin() + static_cast<std::ptrdiff_t>(kept), prompts[i].end());
    if (call.max_tokens == 0) writers[i].end(Finish::max_tokens);
  }
  const auto is_open = [&] { return std::any_of(writers.begin(), writers.end(), [](const Writer& w) { return !w.ended; }); };
  for (bool prompt = true; is_open(); prompt = false) {
    std::span<const float> logits;
    const auto begin = std::chrono::steady_clock::now();
    try {
      if (stops(call)) fail(ErrorKind::cancelled, "the call was cancelled");
      logits = session.append(next, call.run);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::cancelled) throw;
      for (Writer& w : writers)
        if (!w.ended) w.end(Finish::cancelled);
      break;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    (prompt ? clock.prompt_s : clock.step_s) += seconds, (prompt ? clock.prompt_runs : clock.steps) += 1;
    for (std::size_t i = 0; i < writers.size(); ++i) {
      next[i].clear();
      if (writers[i].ended) continue;
      std::vector<float> own(logits.begin() + static_cast<std::ptrdiff_t>(i * static_cast<std::size_t>(info.vocabulary)),
                             logits.begin() + static_cast<std::ptrdiff_t>((i + 1) * static_cast<std::size_t>(info.vocabulary)));
      take(writers[i], first + i, own, info, call);
      if (!writers[i].ended) next[i].push_back(writers[i].ids.back());
    }
  }
  std::vector<Generated> results;
  for (std::size_t i = 0; i < writers.size(); ++i) {
    finish(writers[i], first + i, call);
    results.push_back(std::move(writers[i].result));
  }
  return results;
}

}  // namespace tenfold::decoders
