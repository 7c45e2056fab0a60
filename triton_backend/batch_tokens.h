// tenfold.max_batch_tokens: what a request takes of a batch, and which requests run together.
//
// Triton's batcher asks for each request whether it joins a batch (batcher.cpp), but not where a batch that waits for an
// instance grows, and not in servers without that interface. So batches are also divided here, before they run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tenfold/serving/served_model.h"

namespace tenfold {
class ServedEncoder;
}

namespace tenfold::triton {

class BatchTokens {
 public:
  // `packed`: whether padding is skipped, so that only tokens that the attention mask keeps are counted. Throws
  // invalid_argument for a model that takes neither texts nor ids of tokens.
  BatchTokens(std::shared_ptr<ServedModel> served, std::int64_t most, bool packed);

  // Of texts, tokens with special ones, truncated as the encoder does. Of ids, padded rows; those of the mask where padding is
  // skipped. 0: the request is wrong, and fails by itself.
  std::int64_t of(std::span<const RequestInput> inputs) const noexcept;
  // Whether a request of so many tokens joins others. One that is alone is never too long.
  bool joins(std::int64_t others, std::int64_t tokens) const { return others == 0 || tokens <= most_ - others; }
  // The requests in their order, in batches within the limit.
  std::vector<std::span<ServedRequest* const>> divide(std::span<ServedRequest* const> requests) const;

 private:
  std::int64_t of_texts(std::span<const RequestInput> inputs) const;
  std::int64_t of_ids(std::span<const RequestInput> inputs) const;

  std::shared_ptr<ServedModel> served_;
  const ServedEncoder* encoder_ = nullptr;       // null: the model takes ids
  std::int64_t most_;
  std::string ids_, mask_;                       // inputs; no mask: padding counts
};

}  // namespace tenfold::triton
