// Perplexity and divergence: logits behind each token of a text, a chunk at a time.
#include "tenfold/evaluate_decoder.h"

#include <algorithm>
#include <cmath>

#include "tenfold/internal/as_error.h"
#include "tenfold/internal/interrupts.h"
#include "text/decoders/onnx/find_model.h"
#include "text/fail.h"

namespace tenfold {

using tokenizing::fail;

namespace {

using Ids = std::vector<std::int32_t>;

constexpr int kRows = 65;   // tokens of a text that a run computes, each with its logits

// Of a row of logits.
struct Row {
  std::span<const float> logits;
  double log_sum = 0;   // the logarithm of the sum of their powers of e
  std::size_t top = 0;

  explicit Row(std::span<const float> given) : logits(given) {
    top = static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    const auto largest = static_cast<double>(logits[top]);
    double sum = 0;
    for (const float x : logits) sum += std::exp(static_cast<double>(x) - largest);
    log_sum = largest + std::log(sum);
  }
  double log_probability(std::size_t token) const { return static_cast<double>(logits[token]) - log_sum; }
};

double divergence(const Row& from, const Row& to) {
  double sum = 0;
  for (std::size_t i = 0; i < from.logits.size(); ++i) {
    const double log = from.log_probability(i);
    if (const double p = std::exp(log); p > 0) sum += p * (log - to.log_probability(i));
  }
  return sum;
}

class Sums {
 public:
  Sums(const Decoder& decoder, const Decoder* reference) : vocabulary_(static_cast<std::size_t>(decoder.info().vocabulary)) {
    sessions_.push_back(decoder.start());
    chunk_ = decoder.info().speculate + 1;
    if (!reference) return;
    sessions_.push_back(reference->start());
    chunk_ = std::min(chunk_, reference->info().speculate + 1);
  }

  void add(const Ids& ids) {
    for (DecoderSession& one : sessions_) one.truncate(0, 0);
    for (std::size_t at = 0; at + 1 < ids.size(); at += static_cast<std::size_t>(chunk_)) {
      throw_if_cancelled();
      const std::size_t count = std::min(static_cast<std::size_t>(chunk_), ids.size() - 1 - at);
      const std::vector<Ids> some{{ids.begin() + static_cast<std::ptrdiff_t>(at), ids.begin() + static_cast<std::ptrdiff_t>(at + count)}};
      std::vector<std::span<const float>> logits;
      for (DecoderSession& one : sessions_) logits.push_back(one.append_each(some));
      for (std::size_t i = 0; i < count; ++i) add_row(logits, i, static_cast<std::size_t>(ids[at + i + 1]));
    }
    ++result_.texts;
  }

  DecoderEvaluation take() {
    const auto count = static_cast<double>(result_.tokens);
    result_.perplexity = std::exp(loss_[0] / count);
    if (sessions_.size() > 1)
      result_.reference_perplexity = std::exp(loss_[1] / count), result_.kl_divergence = divergence_ / count,
      result_.same_token = static_cast<double>(same_) / count;
    return result_;
  }
  void skip() { ++result_.short_texts; }
  void cut() { ++result_.cut_texts; }

 private:
  void add_row(const std::vector<std::span<const float>>& logits, std::size_t i, std::size_t next) {
    std::vector<Row> rows;
    for (std::size_t s = 0; s < logits.size(); ++s) {
      rows.emplace_back(logits[s].subspan(i * vocabulary_, vocabulary_));
      loss_[s] -= rows[s].log_probability(next);
    }
    ++result_.tokens;
    if (rows.size() > 1) divergence_ += divergence(rows[1], rows[0]), same_ += rows[0].top == rows[1].top;
  }

  std::size_t vocabulary_;
  std::vector<DecoderSession> sessions_;   // the decoder's, and the reference's
  int chunk_ = 1;
  double loss_[2] = {}, divergence_ = 0;
  std::int64_t same_ = 0;
  DecoderEvaluation result_;
};

DecoderEvaluation evaluate(const Decoder& decoder, std::span<const std::string> texts, const Decoder* reference,
                           const EvaluateDecoderOptions& options) {
  int most = decoder.info().max_length;
  if (reference) most = std::min(most, reference->info().max_length);
  if (options.max_tokens < 0 || options.max_tokens == 1)
    fail(ErrorKind::invalid_argument, "max_tokens is " + std::to_string(options.max_tokens) + "; 2 or more was expected, or 0");
  if (options.max_tokens > 0) most = std::min(most, options.max_tokens);
  if (reference && reference->info().vocabulary != decoder.info().vocabulary)
    fail(ErrorKind::invalid_argument, "the reference has " + std::to_string(reference->info().vocabulary) + " tokens, the decoder " +
                                          std::to_string(decoder.info().vocabulary) + "; give a reference of the same tokenizer");
  Sums sums(decoder, reference);
  bool any = false;
  for (const std::string& text : texts) {
    Ids ids = decoder.tokenizer().encode(text).ids;
    if (ids.size() > static_cast<std::size_t>(most)) ids.resize(static_cast<std::size_t>(most)), sums.cut();
    if (ids.size() < 2) {
      sums.skip();
      continue;
    }
    sums.add(ids), any = true;
  }
  if (!any)
    fail(ErrorKind::invalid_argument, "none of the " + std::to_string(texts.size()) + " texts has two tokens: a token is predicted from "
                                      "those in front of it; give longer texts");
  return sums.take();
}

}  // namespace

Decoder load_for_evaluation(const std::string& path, DecoderOptions options) {
  options.prompt_chunk = 1, options.speculate = kRows - 1;
  try {
    return Decoder::load(path, options);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::unsupported || !decoders::onnx::find_model(path)) throw;
  }
  options.speculate = 0;   // a file that gives the last token's logits alone; what else is unsupported is said again
  return Decoder::load(path, options);
}

DecoderEvaluation evaluate_decoder(const Decoder& decoder, std::span<const std::string> texts, const Decoder* reference,
                                   const EvaluateDecoderOptions& options) {
  return as_error([&] { return evaluate(decoder, texts, reference, options); });
}

}  // namespace tenfold
