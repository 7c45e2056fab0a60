// A batch of sequences: one context whose states are the cache, and the tokens that are in it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tenfold/decoder.h"
#include "text/decoders/cached_attention.h"

namespace tenfold::decoders {

// What sessions of one decoder share, and what they need to know of it.
struct SessionModel {
  Engine engine;
  CacheSizes cache;
  std::int64_t vocabulary = 0, chunk = 0, speculate = 0;
  // Places of the cache are read in multiples of so many: shapes that come again are launched as one graph on a GPU.
  std::int64_t places_step = 1;
};

}  // namespace tenfold::decoders

namespace tenfold {

struct DecoderSession::Impl {
  std::shared_ptr<const decoders::SessionModel> model;
  std::unique_ptr<ExecutionContext> context;
  std::vector<std::vector<std::int32_t>> ids;   // of each sequence: all that its cache holds
  std::vector<float> logits;

  Impl(std::shared_ptr<const decoders::SessionModel> of, int sequences);
  std::span<const float> append(std::span<const std::vector<std::int32_t>> tokens, const RunOptions& options);
  std::span<const float> append_each(std::span<const std::vector<std::int32_t>> tokens, const RunOptions& options);
  void truncate(int sequence, int length);
  std::unique_ptr<Impl> fork() const;

 private:
  // One run for `count` tokens of each sequence. Rows last_ of them give logits.
  void run(std::span<const std::vector<std::int32_t>> whole, const std::vector<std::int64_t>& from, std::int64_t count,
           const RunOptions& options);
  std::vector<std::vector<std::int32_t>> with(std::span<const std::vector<std::int32_t>> tokens) const;   // the sequences, continued
  std::span<const float> append_ones(std::span<const std::vector<std::int32_t>> tokens, const RunOptions& options);
  void check(std::span<const std::vector<std::int32_t>> tokens) const;
  void bind(const char* name, void* memory, std::int64_t bytes);
  std::int64_t sequences() const { return static_cast<std::int64_t>(ids.size()); }
  std::vector<std::int32_t> run_ids_, positions_, last_;
  std::vector<std::int64_t> start_;
  std::span<float> run_logits_;      // the context's own memory, which a GPU writes without a copy in between
  std::vector<std::uint8_t> keys_;   // never read: its extent says how many places of the cache are
};

}  // namespace tenfold
