// Counting tokens of requests. Texts are tokenized for it, which takes microseconds where their run takes milliseconds.
#include "batch_tokens.h"

#include <algorithm>
#include <cstring>

#include "tenfold/serving/served_encoder.h"

namespace tenfold::triton {
namespace {

const RequestInput* find(std::span<const RequestInput> inputs, std::string_view name) {
  const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const RequestInput& input) { return input.name == name; });
  return found == inputs.end() ? nullptr : &*found;
}

bool is_of_rows(const BindingInfo& binding) { return binding.is_input && binding.shape.size() == 2; }
bool has_ids(const BindingInfo& binding) { return binding.dtype == DType::i32 || binding.dtype == DType::i64; }

// Elements that are not zero, in whatever pieces they came.
std::int64_t kept(const RequestInput& mask) {
  const auto size = static_cast<std::size_t>(byte_size(mask.dtype, 1));
  std::int64_t count = 0;
  std::size_t at = 0;
  bool zero = true;
  for (const auto& piece : mask.pieces)
    for (const std::byte byte : piece) {
      zero &= byte == std::byte{0};
      if (++at % size == 0) count += !zero, zero = true;
    }
  return count;
}

}  // namespace

BatchTokens::BatchTokens(std::shared_ptr<ServedModel> served, std::int64_t most, bool packed) : served_(std::move(served)), most_(most) {
  encoder_ = dynamic_cast<const ServedEncoder*>(served_.get());
  if (encoder_) return;
  for (const BindingInfo& binding : served_->bindings()) {
    if (!is_of_rows(binding)) continue;
    if (has_ids(binding) && ids_.empty()) ids_ = binding.name;
    if (packed && binding.name == "attention_mask") mask_ = binding.name;
  }
  if (ids_.empty())
    throw Error(ErrorKind::invalid_argument, "parameter 'tenfold.max_batch_tokens' is for encoders and for models with an input of token "
                                             "ids (int32 or int64, with the shape [batch, length]), which this model does not have: "
                                             "remove it");
}

std::int64_t BatchTokens::of_texts(std::span<const RequestInput> inputs) const {
  const RequestInput *texts = find(inputs, "text"), *pairs = find(inputs, "text_pair");
  if (!texts || !texts->strings || (pairs && (!pairs->strings || pairs->strings->size() != texts->strings->size()))) return 0;
  std::int64_t all = 0;
  for (std::size_t i = 0; i < texts->strings->size(); ++i) {
    const std::string& text = (*texts->strings)[i];
    const TokenizedText ids = pairs ? encoder_->encoder().tokenize_pair(text, (*pairs->strings)[i])
                                    : encoder_->encoder().tokenize(text, encoder_->prompt());
    all += static_cast<std::int64_t>(ids.ids.size());
  }
  return all;
}

std::int64_t BatchTokens::of_ids(std::span<const RequestInput> inputs) const {
  const RequestInput* mask = mask_.empty() ? nullptr : find(inputs, mask_);
  if (mask) return kept(*mask);
  const RequestInput* ids = find(inputs, ids_);
  if (!ids) return 0;
  std::int64_t all = 1;
  for (const std::int64_t extent : ids->shape) all *= std::max<std::int64_t>(0, extent);
  return all;
}

std::int64_t BatchTokens::of(std::span<const RequestInput> inputs) const noexcept {
  try {
    return encoder_ ? of_texts(inputs) : of_ids(inputs);
  } catch (const std::exception&) {
    return 0;   // its run says why
  }
}

std::vector<std::span<ServedRequest* const>> BatchTokens::divide(std::span<ServedRequest* const> requests) const {
  std::vector<std::span<ServedRequest* const>> batches;
  std::size_t first = 0;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::int64_t tokens = of(requests[i]->inputs());
    if (!joins(sum, tokens)) batches.push_back(requests.subspan(first, i - first)), first = i, sum = 0;
    sum += tokens;
  }
  if (first < requests.size()) batches.push_back(requests.subspan(first));
  return batches;
}

}  // namespace tenfold::triton
