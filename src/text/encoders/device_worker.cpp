#include "text/encoders/device_worker.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "text/fail.h"

namespace tenfold::encoders {
namespace {

// In blocks, which compilers make vectors of. A float is finite if its exponent is not the largest.
bool all_finite(std::span<const float> rows) {
  constexpr std::size_t kBlock = 16;
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t largest[kBlock] = {};
  std::size_t at = 0;
  const auto exponent = [&](std::size_t i) { return std::bit_cast<std::uint32_t>(rows[i]) & kExponent; };
  for (; at + kBlock <= rows.size(); at += kBlock)
    for (std::size_t i = 0; i < kBlock; ++i) largest[i] = std::max(largest[i], exponent(at + i));
  for (; at < rows.size(); ++at) largest[0] = std::max(largest[0], exponent(at));
  return *std::max_element(largest, largest + kBlock) < kExponent;
}

// No NaN leaves: it would make every comparison with that vector false, and nobody would see where it came from.
void put_finite(const RowSink& sink, const EncodeCall& call, std::size_t text, std::span<const float> rows) {
  if (all_finite(rows)) return sink(text, rows);
  const Error error(ErrorKind::invalid_model, "text " + std::to_string(text) +
                                                  " has a vector that is not finite: either the weights hold such numbers, or fp16 is "
                                                  "too narrow for this model; bf16 and fp32 are wider");
  if (!call.failed) throw error;
  sink(text, std::vector<float>(rows.size()));
  call.failed(text, error);
}

void throw_if_stopped(const RunOptions& run) {
  if (run.token.cancelled()) tokenizing::fail(ErrorKind::cancelled, "the call was cancelled");
  if (run.deadline && std::chrono::steady_clock::now() >= *run.deadline)
    tokenizing::fail(ErrorKind::cancelled, "the deadline passed while the encoder ran");
}

}  // namespace

DeviceWorker::DeviceWorker(serving::DevicePlace place, std::shared_ptr<const Model> model, EncoderOptions options, int max_tokens,
                           PrecisionWish precision, std::shared_ptr<EngineCache> cache)
    : PoolDevice(std::move(place)),
      max_tokens_(max_tokens),
      engines_(std::move(model), std::move(options), max_tokens, std::move(precision), std::move(cache)) {}

// Runs some texts, the longest first. Rows of texts without a token that counts are zeros.
void DeviceWorker::run_some(const Tokens& batch, std::span<const std::size_t> texts, std::size_t first, PooledContext& runner,
                            const OutputRequest& request, const EncodeCall& call, const RowSink& sink) {
  thread_local std::vector<std::int32_t> ids, types;
  thread_local std::vector<std::uint8_t> mask;
  const std::size_t length = batch.length(texts.front());
  const std::size_t row = static_cast<std::size_t>(runner.width()) * (request.output == OutputRequest::tokens ? length : 1);
  ids.assign(texts.size() * length, 0), types.assign(batch.types.empty() ? 0 : ids.size(), 0);
  mask.assign(request.packed ? ids.size() : 0, 0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t from = batch.begin(texts[i]), count = batch.length(texts[i]);
    std::copy_n(batch.ids.data() + from, count, ids.data() + i * length);
    if (!types.empty()) std::copy_n(batch.types.data() + from, count, types.data() + i * length);
    if (request.packed) std::fill_n(mask.data() + i * length, count, std::uint8_t{1});
  }
  const auto take = [&](std::span<const float> out) {
    for (std::size_t i = 0; i < texts.size(); ++i) put_finite(sink, call, first + texts[i], out.subspan(i * row, row));
  };
  ++runs_;
  if (length <= static_cast<std::size_t>(request.skipped)) return take(std::vector<float>(texts.size() * row));
  runner.run(ids.data(), types.data(), mask.data(), static_cast<std::int64_t>(texts.size()), static_cast<std::int64_t>(length),
             texts.size() * row, call.run, take);
}

template <class Work>
void DeviceWorker::within_memory(const Work& work) {
  for (;;) {
    const std::int64_t batch_tokens = engines_.batch_tokens();
    try {
      return work();
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::out_of_memory || !engines_.halve(batch_tokens)) throw;
    }
  }
}

void DeviceWorker::prepare(const OutputRequest& request) {
  within_memory([&] { engines_.get(request); });
  if (!packs(request)) return;
  OutputRequest packed = request;
  packed.packed = true;
  within_memory([&] { engines_.get(packed)->make_contexts(lanes()); });
}

void DeviceWorker::pool(const WorkItem& piece, std::span<const float> tokens, const OutputRequest& request, const EncodeCall& call,
                        const RowSink& sink) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t texts = piece.texts.size(), length = piece.length(), width = tokens.size() / (texts * length);
  within_memory([&] {
    const std::shared_ptr<PooledContext> runner = engines_.get({.output = OutputRequest::pooling, .skipped = request.skipped});
    const auto max_texts =
        static_cast<std::size_t>(texts_in_a_run(static_cast<std::int64_t>(length), max_tokens_, runner->batch_tokens(), false));
    const auto row = static_cast<std::size_t>(runner->width());
    std::vector<float> out;
    for (std::size_t at = 0; at < texts; at += max_texts) {
      throw_if_stopped(call.run);
      const std::size_t some = std::min(max_texts, texts - at);
      out.assign(some * row, 0.0f);
      const Shape shape{static_cast<std::int64_t>(some), static_cast<std::int64_t>(length), static_cast<std::int64_t>(width)};
      if (length > static_cast<std::size_t>(request.skipped)) runner->pool(tokens.data() + at * length * width, shape, out), ++runs_;
      for (std::size_t i = 0; i < some; ++i) put_finite(sink, call, piece.window->first + piece.texts[at + i], {out.data() + i * row, row});
    }
  });
  count(static_cast<std::int64_t>(piece.texts.size()), piece.tokens(), std::chrono::steady_clock::now() - begin);
}

// A piece may be larger than this device's budget: pieces are cut for the device with the largest one.
void DeviceWorker::run(const WorkItem& piece, const OutputRequest& output, const EncodeCall& call, const RowSink& sink) {
  const auto begin = std::chrono::steady_clock::now();
  OutputRequest request = output;
  request.packed = piece.packed;
  within_memory([&] {
    const std::shared_ptr<PooledContext> runner = engines_.get(request);
    const auto max_texts = static_cast<std::size_t>(
        texts_in_a_run(static_cast<std::int64_t>(piece.length()), max_tokens_, runner->batch_tokens(), piece.packed));
    const std::span<const std::size_t> texts(piece.texts);
    for (std::size_t at = 0; at < texts.size(); at += max_texts) {
      throw_if_stopped(call.run);
      run_some(piece.window->tokens, texts.subspan(at, std::min(max_texts, texts.size() - at)),
               piece.window->first, *runner, request, call, sink);
    }
  });
  count(static_cast<std::int64_t>(piece.texts.size()), piece.tokens(), std::chrono::steady_clock::now() - begin);
}

DeviceWork DeviceWorker::work() const {
  const Count all = counted();
  return {place().name, all.units, all.cost, runs_, all.seconds, why_lost(), engines_.precision(), engines_.int8_cosine()};
}

}  // namespace tenfold::encoders
