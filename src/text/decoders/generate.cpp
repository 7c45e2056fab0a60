#include "text/decoders/generate.h"

#include <algorithm>
#include <chrono>

#include "text/decoders/sampling.h"
#include "text/decoders/speculation.h"
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
  std::vector<std::int32_t> ids;  // prompt and new tokens
  bool ended = false;
  std::size_t ahead = 0;  // tokens that its next step may guess

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

// What the next step appends: the token that came last, and what may follow it.
void fill(std::vector<std::int32_t>& next, Writer& w, const DecoderInfo& info, const GenerateCall& call, Clock& clock) {
  next.assign(1, w.ids.back());
  const std::size_t left = std::min(static_cast<std::size_t>(call.max_tokens) - w.result.ids.size(),
                                    static_cast<std::size_t>(info.max_length) - w.ids.size() + 1) -
                           1;
  for (const std::int32_t token : guess(w.ids, std::min(w.ahead, left))) next.push_back(token);
  clock.guessed += static_cast<std::int64_t>(next.size()) - 1;
}

// Takes tokens by the rows of logits that stand behind `appended`, as long as what was guessed is right. Returns how many of `appended`
// belong to the sequence.
std::size_t take(Writer& w, std::size_t number, std::span<const float> rows, std::span<const std::int32_t> appended,
                 const DecoderInfo& info, const GenerateCall& call) {
  const auto vocabulary = static_cast<std::size_t>(info.vocabulary);
  for (std::size_t row = 0;; ++row) {
    std::vector<float> logits(rows.begin() + static_cast<std::ptrdiff_t>(row * vocabulary),
                              rows.begin() + static_cast<std::ptrdiff_t>((row + 1) * vocabulary));
    take(w, number, logits, info, call);
    if (w.ended || (row + 1) * vocabulary == rows.size() || w.ids.back() != appended[row + 1]) return row + 1;
  }
}

// The sequences of a call, and in `next` what of their prompts the session does not have.
std::vector<Writer> writers_of(const DecoderSession& session, std::span<const std::vector<std::int32_t>> prompts, std::size_t first,
                               const Tokenizer& tokenizer, const GenerateCall& call, std::size_t most,
                               std::vector<std::vector<std::int32_t>>& next) {
  std::vector<Writer> writers;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const std::size_t kept = session.ids(static_cast<int>(i)).size();
    writers.push_back({.result = {.prompt_tokens = static_cast<int>(prompts[i].size()), .reused_tokens = static_cast<int>(kept)},
                       .sampler = Sampler(call.sampling, call.sampling.seed + first + i),
                       .stream = TextStream(tokenizer, call.stop),
                       .ids = prompts[i],
                       .ahead = most});
    next[i].assign(prompts[i].begin() + static_cast<std::ptrdiff_t>(kept), prompts[i].end());
    if (call.max_tokens == 0) writers[i].end(Finish::max_tokens);
  }
  return writers;
}

bool stops(const GenerateCall& call) {
  return call.run.token.cancelled() || (call.run.deadline && std::chrono::steady_clock::now() >= *call.run.deadline);
}

}  // namespace

void check(const GenerateCall& call, const DecoderInfo& info) {
  if (call.max_tokens < 0)
    fail(ErrorKind::invalid_argument, "max_tokens is " + std::to_string(call.max_tokens) + ", 0 or more was expected");
  if (call.speculate < -1 || call.speculate > info.speculate)
    fail(ErrorKind::invalid_argument, "speculate is " + std::to_string(call.speculate) + ", but the decoder was loaded with " +
                                          std::to_string(info.speculate) + "; give 0 to so many, or -1 for all of them");
  for (const std::string& one : call.stop)
    if (one.empty()) fail(ErrorKind::invalid_argument, "a stop text is empty");
  check(call.sampling);
}

std::vector<Generated> generate(DecoderSession& session, std::span<const std::vector<std::int32_t>> prompts, std::size_t first,
                                const DecoderInfo& info, const Tokenizer& tokenizer, const GenerateCall& call, Clock& clock) {
  const auto most = static_cast<std::size_t>(call.speculate < 0 ? info.speculate : call.speculate);
  std::vector<std::vector<std::int32_t>> next(prompts.size());
  std::vector<Writer> writers = writers_of(session, prompts, first, tokenizer, call, most, next);
  const auto is_open = [&] { return std::any_of(writers.begin(), writers.end(), [](const Writer& w) { return !w.ended; }); };
  for (bool prompt = true; is_open(); prompt = false) {
    std::span<const float> logits;
    const bool guesses = !prompt && std::any_of(next.begin(), next.end(), [](const auto& one) { return one.size() > 1; });
    const auto begin = std::chrono::steady_clock::now();
    try {
      if (stops(call)) fail(ErrorKind::cancelled, "the call was cancelled");
      logits = guesses ? session.append_each(next, call.run) : session.append(next, call.run);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::cancelled) throw;
      for (Writer& w : writers)
        if (!w.ended) w.end(Finish::cancelled);
      break;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    (prompt ? clock.prompt_s : clock.step_s) += seconds, (prompt ? clock.prompt_runs : clock.steps) += 1;
    for (std::size_t i = 0; i < writers.size(); ++i) {
      const std::size_t rows = guesses ? next[i].size() : 1;
      const std::span<const float> own = logits.first(rows * static_cast<std::size_t>(info.vocabulary));
      logits = logits.subspan(own.size());
      Writer& w = writers[i];
      if (!w.ended) {
        const std::size_t kept = take(w, first + i, own, next[i], info, call);
        if (rows > 1) {
          session.truncate(static_cast<int>(i), static_cast<int>(session.ids(static_cast<int>(i)).size() - rows + kept));
          clock.accepted += static_cast<std::int64_t>(kept) - 1;
          w.ahead = kept == rows ? most : std::min(most, kept + 1);
        }
      }
      next[i].clear();
      if (!w.ended) fill(next[i], w, info, call, clock);
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
