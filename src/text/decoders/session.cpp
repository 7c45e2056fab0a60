#include "text/decoders/session.h"

#include <algorithm>

#include "tenfold/bindings.h"
#include "text/fail.h"
#include "text/transformers/plans.h"

namespace tenfold {

using tokenizing::fail;

namespace {

void need(const ExecutionContext& context, Status status) { transformers::need(context, status, "the decoder"); }

template <class Function>
void each_state(const DecoderSession::Impl& session, const Function& act) {
  const Engine& engine = session.model->engine;
  for (const decoders::CacheState& state : session.model->cache.states())
    act(state, engine.binding_index(state.past), engine.binding_index(state.present));
}

}  // namespace

DecoderSession::Impl::Impl(std::shared_ptr<const decoders::SessionModel> of, int sequences)
    : model(std::move(of)), context(model->engine.create_context()), ids(static_cast<std::size_t>(sequences)) {
  const decoders::CacheSizes& cache = model->cache;
  each_state(*this, [&](const decoders::CacheState& state, int past, int present) {
    need(*context, bind_state(*context, present, past));
    need(*context, context->set_input_shape(past, Shape{this->sequences(), cache.heads, cache.capacity, state.size}));
  });
  const auto rows = static_cast<std::size_t>(sequences);
  const std::size_t max_rows = rows * static_cast<std::size_t>(model->speculate + 1);
  start_.resize(rows);
  run_logits_ = {static_cast<float*>(context->own_memory(model->engine.binding_index("logits"))),
                 max_rows * static_cast<std::size_t>(model->vocabulary)};
  keys_.resize(static_cast<std::size_t>(cache.capacity), 1);
  bind("start", start_.data(), static_cast<std::int64_t>(rows * sizeof(std::int64_t)));
  need(*context, context->set_input_shape(model->engine.binding_index("start"), Shape{sequences}));
}

void DecoderSession::Impl::bind(const char* name, void* memory, std::int64_t bytes) {
  need(*context, context->bind(model->engine.binding_index(name), memory, bytes));
}

void DecoderSession::Impl::check(std::span<const std::vector<std::int32_t>> tokens) const {
  if (tokens.size() != ids.size())
    fail(ErrorKind::invalid_argument, std::to_string(tokens.size()) + " lists of tokens for " + std::to_string(ids.size()) + " sequences");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (const std::int32_t id : tokens[i])
      if (id < 0 || id >= model->vocabulary)
        fail(ErrorKind::invalid_argument, "sequence " + std::to_string(i) + " has the token " + std::to_string(id) +
                                              "; the model has tokens 0 to " + std::to_string(model->vocabulary - 1));
    if (static_cast<std::int64_t>(ids[i].size() + tokens[i].size()) > model->cache.capacity)
      fail(ErrorKind::invalid_argument, "sequence " + std::to_string(i) + " would have " +
                                            std::to_string(ids[i].size() + tokens[i].size()) + " tokens, but max_length is " +
                                            std::to_string(model->cache.capacity));
  }
}

// Sequence i computes count tokens from place from[i] on. Behind its own last token it computes what no query will see: each place is
// written again before a later token reads it.
void DecoderSession::Impl::run(std::span<const std::vector<std::int32_t>> whole, const std::vector<std::int64_t>& from, std::int64_t count,
                               const RunOptions& options) {
  const std::size_t total = ids.size() * static_cast<std::size_t>(count);
  run_ids_.assign(total, 0), positions_.resize(total);
  std::int64_t keys = 1;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto size = static_cast<std::int64_t>(whole[i].size());
    start_[i] = from[i], keys = std::max(keys, from[i] + count);
    for (std::int64_t t = 0; t < count; ++t) {
      const std::size_t at = i * static_cast<std::size_t>(count) + static_cast<std::size_t>(t);
      if (from[i] + t < size) run_ids_[at] = whole[i][static_cast<std::size_t>(from[i] + t)];
      positions_[at] = static_cast<std::int32_t>(from[i] + t);
    }
  }
  const std::int64_t step = model->places_step;
  keys = std::min((keys + step - 1) / step * step, model->cache.capacity);   // no query sees places behind its own
  const Engine& engine = model->engine;
  for (const char* name : {"ids", "positions"})
    need(*context, context->set_input_shape(engine.binding_index(name), Shape{sequences(), count}));
  need(*context, context->set_input_shape(engine.binding_index("keys"), Shape{keys}));
  bind("ids", run_ids_.data(), static_cast<std::int64_t>(total * sizeof(std::int32_t)));
  bind("positions", positions_.data(), static_cast<std::int64_t>(total * sizeof(std::int32_t)));
  bind("keys", keys_.data(), keys);
  need(*context, context->set_input_shape(engine.binding_index("last"), Shape{static_cast<std::int64_t>(last_.size())}));
  bind("last", last_.data(), static_cast<std::int64_t>(last_.size() * sizeof(std::int32_t)));
  need(*context, context->run_with(options));
}

std::vector<std::vector<std::int32_t>> DecoderSession::Impl::with(std::span<const std::vector<std::int32_t>> tokens) const {
  std::vector<std::vector<std::int32_t>> whole = ids;
  for (std::size_t i = 0; i < ids.size(); ++i) whole[i].insert(whole[i].end(), tokens[i].begin(), tokens[i].end());
  return whole;
}

// A step: each sequence has a row, the rows of those without a token go.
std::span<const float> DecoderSession::Impl::append_ones(std::span<const std::vector<std::int32_t>> tokens, const RunOptions& options) {
  const std::span<const float> rows = append(tokens, options);
  if (std::none_of(tokens.begin(), tokens.end(), [](const auto& one) { return one.empty(); })) return rows;
  const auto vocabulary = static_cast<std::ptrdiff_t>(model->vocabulary);
  auto to = logits.begin();
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (!tokens[i].empty()) to = std::copy_n(logits.begin() + static_cast<std::ptrdiff_t>(i) * vocabulary, vocabulary, to);
  return {logits.begin(), to};
}

std::span<const float> DecoderSession::Impl::append_each(std::span<const std::vector<std::int32_t>> tokens, const RunOptions& options) {
  check(tokens);
  std::int64_t count = 0;
  for (const auto& one : tokens) count = std::max(count, static_cast<std::int64_t>(one.size()));
  if (count > model->speculate + 1)
    fail(ErrorKind::invalid_argument, std::to_string(count) + " tokens of one sequence, but speculate is " +
                                          std::to_string(model->speculate) + ", so that logits behind each are there for " +
                                          std::to_string(model->speculate + 1) + " tokens");
  if (count == 0) return {};
  if (count == 1) return append_ones(tokens, options);
  std::vector<std::vector<std::int32_t>> whole = with(tokens);
  std::vector<std::int64_t> from;
  last_.clear();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto done = static_cast<std::int64_t>(ids[i].size());
    from.push_back(std::min(done, model->cache.capacity - count));
    for (std::size_t t = 0; t < tokens[i].size(); ++t)
      last_.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(i) * count + done - from[i] + static_cast<std::int64_t>(t)));
  }
  run(whole, from, count, options);
  ids = std::move(whole);
  return run_logits_.first(last_.size() * static_cast<std::size_t>(model->vocabulary));
}

// In pieces of a prompt. No piece may end behind the cache: a sequence that is near its end computes some of its last tokens again.
std::span<const float> DecoderSession::Impl::append(std::span<const std::vector<std::int32_t>> tokens, const RunOptions& options) {
  check(tokens);
  std::vector<std::vector<std::int32_t>> whole = with(tokens);
  std::vector<std::int64_t> done;
  std::int64_t left = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    done.push_back(static_cast<std::int64_t>(ids[i].size()));
    left = std::max(left, static_cast<std::int64_t>(tokens[i].size()));
  }
  const auto vocabulary = static_cast<std::size_t>(model->vocabulary);
  // A step is one run, whose rows are given as they lie: no copy of a vocabulary for each token.
  const bool one_run = left <= model->chunk && std::none_of(tokens.begin(), tokens.end(), [](const auto& one) { return one.empty(); });
  if (!one_run) logits.assign(ids.size() * vocabulary, 0.0f);
  while (left > 0) {
    const std::int64_t count = std::min(left, model->chunk);
    std::vector<std::int64_t> from;
    for (const std::int64_t at : done) from.push_back(std::min(at, model->cache.capacity - count));
    last_.resize(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::int64_t own = static_cast<std::int64_t>(whole[i].size()) - 1 - from[i];
      last_[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * count + std::clamp<std::int64_t>(own, 0, count - 1));
    }
    run(whole, from, count, options);
    left = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto size = static_cast<std::int64_t>(whole[i].size());
      const bool ends = done[i] < size && from[i] + count >= size;
      const auto row = run_logits_.begin() + static_cast<std::ptrdiff_t>(i * vocabulary);
      if (ends && !one_run) std::copy_n(row, vocabulary, logits.begin() + static_cast<std::ptrdiff_t>(i * vocabulary));
      done[i] = std::min(size, from[i] + count);
      left = std::max(left, size - done[i]);
    }
  }
  ids = std::move(whole);
  return one_run ? std::span<const float>(run_logits_).first(ids.size() * vocabulary) : std::span<const float>(logits);
}

void DecoderSession::Impl::truncate(int sequence, int length) {
  if (sequence < 0 || sequence >= sequences())
    fail(ErrorKind::invalid_argument,
         "there is no sequence " + std::to_string(sequence) + "; the session has " + std::to_string(ids.size()));
  std::vector<std::int32_t>& one = ids[static_cast<std::size_t>(sequence)];
  if (length < 0 || static_cast<std::size_t>(length) > one.size())
    fail(ErrorKind::invalid_argument,
         "a sequence of " + std::to_string(one.size()) + " tokens cannot be truncated to " + std::to_string(length));
  one.resize(static_cast<std::size_t>(length));
}

std::unique_ptr<DecoderSession::Impl> DecoderSession::Impl::fork() const {
  auto copy = std::make_unique<Impl>(model, static_cast<int>(ids.size()));
  std::vector<std::byte> values;
  each_state(*this, [&](const decoders::CacheState& state, int past, int) {
    const std::int64_t bytes = model->cache.bytes(state) * sequences();
    values.resize(static_cast<std::size_t>(bytes));
    need(*context, read_state(*context, past, values.data(), bytes));
    need(*copy->context, write_state(*copy->context, past, values.data(), bytes));
  });
  copy->ids = ids;
  return copy;
}

DecoderSession::DecoderSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DecoderSession::DecoderSession(DecoderSession&&) noexcept = default;
DecoderSession& DecoderSession::operator=(DecoderSession&&) noexcept = default;
DecoderSession::~DecoderSession() = default;
int DecoderSession::size() const { return static_cast<int>(impl_->ids.size()); }
std::span<const std::int32_t> DecoderSession::ids(int sequence) const {
  if (sequence < 0 || sequence >= size())
    fail(ErrorKind::invalid_argument, "there is no sequence " + std::to_string(sequence) + "; the session has " + std::to_string(size()));
  return impl_->ids[static_cast<std::size_t>(sequence)];
}
std::span<const float> DecoderSession::append(std::span<const std::vector<std::int32_t>> tokens, const RunOptions& run) {
  return impl_->append(tokens, run);
}
std::span<const float> DecoderSession::append_each(std::span<const std::vector<std::int32_t>> tokens, const RunOptions& run) {
  return impl_->append_each(tokens, run);
}
void DecoderSession::truncate(int sequence, int length) { impl_->truncate(sequence, length); }
DecoderSession DecoderSession::fork() const { return DecoderSession(impl_->fork()); }

}  // namespace tenfold
