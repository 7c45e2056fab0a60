// The public class: texts become ids, ids become runs, and rows go where their texts stand.
#include "tenfold/encoder.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "text/encoders/engines.h"
#include "text/encoders/info.h"
#include "text/encoders/text_reader.h"
#include "text/fail.h"

namespace tenfold {

using namespace encoders;
using tokenizing::fail;

namespace {

constexpr std::size_t kWindow = 16384;  // texts whose ids are held, and sorted, at once

// The function that the folder asks for: sigmoid for one label where it does not say.
ScoreFunction chosen(const Model& model, const EncoderInfo& info, ScoreFunction function) {
  return function == ScoreFunction::by_folder ? score_function(model, info.labels) : function;
}

// No NaN leaves: it would make every comparison with that vector false, and nobody would see where it came from.
void need_finite(std::span<const float> rows, std::size_t text) {
  if (std::all_of(rows.begin(), rows.end(), [](float v) { return std::isfinite(v); })) return;
  fail(ErrorKind::invalid_model, "text " + std::to_string(text) +
                                     " has a vector that is not finite: either the weights hold such numbers, or fp16 is too narrow for "
                                     "this model; bf16 and fp32 are wider");
}

}  // namespace

struct Encoder::Impl {
  std::shared_ptr<const Model> model;
  EncoderInfo info;
  TextReader reader;
  mutable Engines engines;
  mutable std::atomic<std::int64_t> texts{0}, tokens{0}, runs{0};

  Impl(std::shared_ptr<const Model> read, const EncoderOptions& options)
      : model(std::move(read)),
        info(info_of(*model, options)),
        reader(model->folder, info.max_tokens, info.labels > 0, options.build.log),
        engines(model, options, info.max_tokens) {
    check_vocabulary(*model, reader.tokenizer());
  }

  using Place = std::function<void(std::size_t text, std::span<const float> rows)>;

  // Runs some texts of one length, whose places count from `first`. Rows of texts without a token that counts are zeros.
  void run(const Tokens& batch, std::size_t first, std::span<const std::size_t> run, Runner& runner, const Wanted& wanted,
           const Place& place) const {
    thread_local std::vector<std::int32_t> ids, types;
    thread_local std::vector<float> out;
    const std::size_t length = batch.length(run.front());
    const std::size_t row = static_cast<std::size_t>(runner.width()) * (wanted.output == Wanted::tokens ? length : 1);
    ids.clear(), types.clear(), out.assign(run.size() * row, 0.0f);
    for (const std::size_t text : run) {
      const auto at = static_cast<std::ptrdiff_t>(batch.begin(text)), end = static_cast<std::ptrdiff_t>(batch.ends[text]);
      ids.insert(ids.end(), batch.ids.begin() + at, batch.ids.begin() + end);
      if (!batch.types.empty()) types.insert(types.end(), batch.types.begin() + at, batch.types.begin() + end);
    }
    if (length > static_cast<std::size_t>(wanted.skipped))
      runner.run(ids.data(), types.data(), static_cast<std::int64_t>(run.size()), static_cast<std::int64_t>(length), out);
    for (std::size_t i = 0; i < run.size(); ++i) {
      const std::span<const float> rows(out.data() + i * row, row);
      need_finite(rows, first + run[i]);
      place(first + run[i], rows);
    }
    ++runs, texts += static_cast<std::int64_t>(run.size()), tokens += static_cast<std::int64_t>(ids.size());
  }

  // All texts, window by window: read(window, first, tokens) gives a window's ids.
  template <class Text, class Read>
  void compute(std::span<const Text> all, const Wanted& wanted, const EncodeCall& call, const Read& read, const Place& place) const {
    if (all.empty()) return;
    Runner& runner = engines.get(wanted);
    Tokens batch;
    std::size_t ready = 0;
    for (std::size_t first = 0; first < all.size(); first += kWindow) {
      read(all.subspan(first, std::min(kWindow, all.size() - first)), first, batch);
      const auto most = [&](std::int64_t length) { return texts_in_a_run(length, info.max_tokens, engines.batch_tokens()); };
      for_each_run(batch, most, [&](std::span<const std::size_t> some) {
        run(batch, first, some, runner, wanted, place);
        ready += some.size();
        if (call.progress && !call.progress(ready, all.size()))
          fail(ErrorKind::cancelled, "encoding was cancelled by its progress callback");
      });
    }
  }

  void encode(std::span<const std::string_view> all, Wanted::Output output, const EncodeCall& call, const Place& place) const {
    if (info.labels > 0)
      fail(ErrorKind::invalid_argument,
           "'" + model->folder.path + "' has a classification head, which gives scores of pairs and no vectors");
    const bool skips = output == Wanted::vectors && !model->counts_prompts && !call.prompt.empty();
    const Wanted wanted{.output = output, .skipped = skips ? reader.prompt_tokens(call.prompt) : 0};
    const auto read = [&](auto window, std::size_t first, Tokens& out) { reader.read(window, first, call.prompt, out); };
    compute(all, wanted, call, read, place);
  }
};

Encoder::Encoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

Encoder Encoder::load(const std::string& folder, EncoderOptions options) {
  try {
    return Encoder(std::make_unique<Impl>(std::make_shared<const Model>(read_model(folder)), options));
  } catch (Error& e) {
    throw e.within("loading the encoder '" + folder + "'");
  }
}

const EncoderInfo& Encoder::info() const { return impl_->info; }
const Tokenizer& Encoder::tokenizer() const { return impl_->reader.tokenizer(); }
EncoderCounts Encoder::counts() const { return {impl_->texts, impl_->tokens, impl_->reader.truncated(), impl_->runs}; }

void Encoder::encode_into(std::span<const std::string_view> texts, std::span<float> out, const EncodeCall& call) const {
  const auto width = static_cast<std::size_t>(impl_->info.width);
  if (out.size() != texts.size() * width)
    fail(ErrorKind::invalid_argument, "Encoder::encode_into: " + std::to_string(texts.size()) + " vectors of " + std::to_string(width) +
                                          " floats need " + std::to_string(texts.size() * width) + ", and there is room for " +
                                          std::to_string(out.size()));
  impl_->encode(texts, Wanted::vectors, call, [&](std::size_t text, std::span<const float> row) {
    std::copy(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(text * width));
  });
}

std::vector<float> Encoder::encode(std::span<const std::string_view> texts, const EncodeCall& call) const {
  std::vector<float> out(texts.size() * static_cast<std::size_t>(impl_->info.width));
  encode_into(texts, out, call);
  return out;
}

std::vector<TokenVectors> Encoder::encode_tokens(std::span<const std::string_view> texts, const EncodeCall& call) const {
  std::vector<TokenVectors> all(texts.size());
  impl_->encode(texts, Wanted::tokens, call, [&](std::size_t text, std::span<const float> rows) {
    all[text] = {static_cast<std::int64_t>(rows.size()) / std::max(1, impl_->info.token_width), {rows.begin(), rows.end()}};
  });
  return all;
}

std::vector<std::int32_t> Encoder::token_ids(std::string_view text, const std::string& prompt) const {
  Tokens tokens;
  impl_->reader.read(std::span(&text, 1), 0, prompt, tokens);
  return tokens.ids;
}

std::vector<float> Encoder::score(std::span<const std::pair<std::string_view, std::string_view>> pairs, ScoreFunction function,
                                  const EncodeCall& call) const {
  const auto labels = static_cast<std::size_t>(impl_->info.labels);
  if (labels == 0)
    fail(ErrorKind::invalid_argument,
         "'" + impl_->model->folder.path + "' has no classification head (architectures of config.json name none)");
  std::vector<float> out(pairs.size() * labels);
  const Wanted wanted{.output = Wanted::scores, .function = chosen(*impl_->model, impl_->info, function)};
  const auto read = [&](auto window, std::size_t first, Tokens& tokens) { impl_->reader.read(window, first, tokens); };
  impl_->compute(pairs, wanted, call, read, [&](std::size_t pair, std::span<const float> row) {
    std::copy(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(pair * labels));
  });
  return out;
}

void Encoder::prepare() const {
  const bool scores = impl_->info.labels > 0;
  impl_->engines.get(scores ? Wanted{.output = Wanted::scores, .function = chosen(*impl_->model, impl_->info, ScoreFunction::by_folder)}
                            : Wanted{});
}

}  // namespace tenfold
