// What is counted of texts beside their model's requests: tokens of texts and of batches, and how long they were tokenized.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

#include "tenfold/serving/duration_histogram.h"

namespace tenfold::server {

// Of a model. Thread safe.
class TextCounts {
 public:
  TextCounts();
  // `scores`: of a head, which is TEI's "predict"; else vectors.
  void asked(bool scores, std::int64_t tokens);
  void succeeded(bool scores) { ++(scores ? predict_success_ : embed_success_); }
  void tokenized(std::chrono::nanoseconds took);
  // One of the `texts` of the batch that began then has run. The batch is counted with the last of them.
  void ran(std::chrono::steady_clock::time_point batch_began, std::int64_t texts, std::int64_t tokens);

  struct Histogram {
    DurationHistogram counts;                    // whose "microseconds" are tokens, but for `tokenization`
    std::uint64_t sum = 0;                       // nanoseconds of tokenization
  };
  struct Counts {
    std::uint64_t embed = 0, embed_success = 0, predict = 0, predict_success = 0;
    Histogram lengths, batches, tokenization;
  };
  Counts get() const;

 private:
  struct Batch {
    std::int64_t texts = 0, tokens = 0;
  };
  static void add(Histogram& histogram, double value, std::uint64_t to_sum);
  std::atomic<std::uint64_t> embed_ = 0, embed_success_ = 0, predict_ = 0, predict_success_ = 0;
  mutable std::mutex mutex_;
  Histogram lengths_, batches_, tokenization_;
  std::map<std::chrono::steady_clock::time_point, Batch> running_;
};

}  // namespace tenfold::server
