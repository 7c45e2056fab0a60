// The public class: texts become ids, ids become runs, and rows go where their texts stand.
#include "tenfold/encoder.h"

#include <algorithm>

#include "tenfold/internal/as_error.h"
#include "text/encoders/device_pool.h"
#include "text/encoders/info.h"
#include "text/encoders/text_reader.h"
#include "text/encoders/token_ids.h"
#include "text/fail.h"

namespace tenfold {

using namespace encoders;
using tokenizing::fail;

namespace {

// The ids of texts that int8 is calibrated on; null where it is not asked for.
std::shared_ptr<const Tokens> samples_for(const EncoderOptions& options, const TextReader& reader) {
  const bool must = options.precision == EncoderPrecision::int8;
  if (!must && (options.precision != EncoderPrecision::automatic || options.calibration_texts.empty())) return nullptr;
  std::vector<std::string_view> texts(options.calibration_texts.begin(), options.calibration_texts.end());
  if (texts.empty()) {
    texts.assign(example_texts().begin(), example_texts().end());
    if (options.build.log)
      options.build.log(Severity::warning,
                        "int8 without calibration_texts: ten built-in sentences give the ranges; give texts like those to come");
  }
  const auto tokens = std::make_shared<Tokens>();
  reader.read(std::span<const std::string_view>(texts).first(std::min(texts.size(), kMaxSamples)), 0, "", *tokens);
  reader.forget_truncated();
  return tokens;
}

}  // namespace

struct Encoder::Impl {
  std::shared_ptr<const Model> model;
  EncoderInfo info;
  TextReader reader;
  mutable DevicePool pool;

  Impl(std::shared_ptr<const Model> read, const EncoderOptions& options)
      : model(std::move(read)),
        info(info_of(*model, options)),
        reader(model->folder, info.max_tokens, info.labels > 0, options.build.threads, options.build.log),
        pool(model, options, info.max_tokens, samples_for(options, reader)) {
    check_vocabulary(*model, reader.tokenizer());
    if (info.vocabulary == 0) info.vocabulary = reader.tokenizer().vocabulary_size();
  }

  void encode(std::span<const std::string_view> all, OutputRequest::Output output, const EncodeCall& call, const RowSink& sink) const {
    encode(all.size(), output, call, sink, [&](std::size_t first, std::size_t count, Tokens& out) {
      reader.read(all.subspan(first, count), first, call.prompt, out, call.failed);
    });
  }
  void encode(std::span<const TokenIds> all, OutputRequest::Output output, const EncodeCall& call, const RowSink& sink) const {
    encode(all.size(), output, call, sink, [&](std::size_t first, std::size_t count, Tokens& out) {
      take_ids(all.subspan(first, count), first, false, info, call, out);
    });
  }
  void encode(std::size_t texts, OutputRequest::Output output, const EncodeCall& call, const RowSink& sink,
              const DevicePool::Read& read) const {
    if (info.labels > 0)
      fail(ErrorKind::invalid_argument,
           "'" + model->folder.path + "' has a classification head, which gives scores of pairs and no vectors");
    const bool skips = output == OutputRequest::vectors && !model->counts_prompts && !call.prompt.empty();
    const OutputRequest request{.output = output, .skipped = skips ? reader.prompt_tokens(call.prompt) : 0};
    as_error([&] { pool.compute(texts, request, call, read, sink); });
  }

  std::vector<float> score(std::size_t texts, ScoreFunction function, const EncodeCall& call, const DevicePool::Read& read) const {
    const auto labels = static_cast<std::size_t>(info.labels);
    if (labels == 0)
      fail(ErrorKind::invalid_argument,
           "'" + model->folder.path + "' has no classification head (architectures of config.json name none)");
    std::vector<float> out(texts * labels);
    as_error([&] {
      pool.compute(texts, scores_by(function), call, read, [&](std::size_t text, std::span<const float> row) {
        std::copy(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(text * labels));
      });
    });
    return out;
  }
  OutputRequest scores_by(ScoreFunction function) const {
    if (function == ScoreFunction::by_folder) function = info.score_function;
    if (function == ScoreFunction::by_folder) function = score_function(*model, info.labels);   // which throws
    return {.output = OutputRequest::scores, .function = function};
  }

  // Of what encode() gives.
  template <class Texts>
  std::vector<TokenVectors> token_vectors(const Texts& texts, const EncodeCall& call) const {
    std::vector<TokenVectors> all(texts.size());
    encode(texts, OutputRequest::tokens, call, [&](std::size_t text, std::span<const float> rows) {
      all[text] = {static_cast<std::int64_t>(rows.size()) / std::max(1, info.token_width), {rows.begin(), rows.end()}};
    });
    return all;
  }
  template <class Texts>
  void vectors_into(const Texts& texts, std::span<float> out, const EncodeCall& call) const {
    encode(texts, OutputRequest::vectors, call, [&](std::size_t text, std::span<const float> row) {
      std::copy(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(text * static_cast<std::size_t>(info.width)));
    });
  }
};

Encoder::Encoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

Encoder Encoder::load(const std::string& folder, EncoderOptions options) {
  try {
    return as_error([&] { return Encoder(std::make_unique<Impl>(std::make_shared<const Model>(read_model(folder)), options)); });
  } catch (Error& e) {
    throw e.within("loading the encoder '" + folder + "'");
  }
}

const EncoderInfo& Encoder::info() const { return impl_->info; }
const Tokenizer& Encoder::tokenizer() const { return impl_->reader.tokenizer(); }
EncoderCounts Encoder::counts() const {
  EncoderCounts all = impl_->pool.counts();
  all.truncated = impl_->reader.truncated();
  return all;
}
std::string Encoder::fingerprint() const { return impl_->pool.fingerprint(); }
std::vector<DeviceWork> Encoder::devices() const { return impl_->pool.work(); }

void Encoder::encode_into(std::span<const std::string_view> texts, std::span<float> out, const EncodeCall& call) const {
  const auto width = static_cast<std::size_t>(impl_->info.width);
  if (out.size() != texts.size() * width)
    fail(ErrorKind::invalid_argument, "Encoder::encode_into: " + std::to_string(texts.size()) + " vectors of " + std::to_string(width) +
                                          " floats need " + std::to_string(texts.size() * width) + ", and there is room for " +
                                          std::to_string(out.size()));
  impl_->vectors_into(texts, out, call);
}

std::vector<float> Encoder::encode(std::span<const std::string_view> texts, const EncodeCall& call) const {
  std::vector<float> out(texts.size() * static_cast<std::size_t>(impl_->info.width));
  encode_into(texts, out, call);
  return out;
}

std::vector<float> Encoder::encode(std::span<const TokenIds> texts, const EncodeCall& call) const {
  std::vector<float> out(texts.size() * static_cast<std::size_t>(impl_->info.width));
  impl_->vectors_into(texts, out, call);
  return out;
}

std::vector<TokenVectors> Encoder::encode_tokens(std::span<const std::string_view> texts, const EncodeCall& call) const {
  return impl_->token_vectors(texts, call);
}
std::vector<TokenVectors> Encoder::encode_tokens(std::span<const TokenIds> texts, const EncodeCall& call) const {
  return impl_->token_vectors(texts, call);
}

std::vector<std::int32_t> Encoder::token_ids(std::string_view text, const std::string& prompt) const {
  Tokens tokens;
  impl_->reader.read(std::span(&text, 1), 0, prompt, tokens);
  return tokens.ids;
}

TokenizedText Encoder::tokenize(std::string_view text, const std::string& prompt, KeptTokens kept) const {
  return as_error([&] { return impl_->reader.tokenize(text, prompt, kept); });
}
TokenizedText Encoder::tokenize_pair(std::string_view first, std::string_view second) const {
  if (impl_->info.labels == 0)
    fail(ErrorKind::invalid_argument, "'" + impl_->model->folder.path + "' has no classification head, so it takes no pairs");
  return as_error([&] { return impl_->reader.tokenize_pair(first, second); });
}

std::vector<float> Encoder::score(std::span<const std::pair<std::string_view, std::string_view>> pairs, ScoreFunction function,
                                  const EncodeCall& call) const {
  return impl_->score(pairs.size(), function, call, [&](std::size_t first, std::size_t count, Tokens& tokens) {
    impl_->reader.read(pairs.subspan(first, count), first, tokens, call.failed);
  });
}
std::vector<float> Encoder::score(std::span<const std::string_view> texts, ScoreFunction function, const EncodeCall& call) const {
  return impl_->score(texts.size(), function, call, [&](std::size_t first, std::size_t count, Tokens& tokens) {
    impl_->reader.read(texts.subspan(first, count), first, call.prompt, tokens, call.failed);
    tokens.types.assign(tokens.ids.size(), 0);
  });
}
std::vector<float> Encoder::score(std::span<const TokenIds> texts, ScoreFunction function, const EncodeCall& call) const {
  return impl_->score(texts.size(), function, call, [&](std::size_t first, std::size_t count, Tokens& tokens) {
    take_ids(texts.subspan(first, count), first, true, impl_->info, call, tokens);
  });
}

void Encoder::prepare(ScoreFunction function) const {
  impl_->pool.prepare(impl_->info.labels > 0 ? impl_->scores_by(function) : OutputRequest{});
}

}  // namespace tenfold
