// The public class: texts become ids, ids become runs, and rows go where their texts stand.
#include "tenfold/encoder.h"

#include <algorithm>

#include "tenfold/internal/as_error.h"
#include "text/encoders/device_pool.h"
#include "text/encoders/info.h"
#include "text/encoders/text_reader.h"
#include "text/fail.h"

namespace tenfold {

using namespace encoders;
using tokenizing::fail;

namespace {

// The function that the folder asks for: sigmoid for one label where it does not say.
ScoreFunction chosen(const Model& model, const EncoderInfo& info, ScoreFunction function) {
  return function == ScoreFunction::by_folder ? score_function(model, info.labels) : function;
}

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
  }

  void encode(std::span<const std::string_view> all, OutputRequest::Output output, const EncodeCall& call, const RowSink& sink) const {
    if (info.labels > 0)
      fail(ErrorKind::invalid_argument,
           "'" + model->folder.path + "' has a classification head, which gives scores of pairs and no vectors");
    const bool skips = output == OutputRequest::vectors && !model->counts_prompts && !call.prompt.empty();
    const OutputRequest request{.output = output, .skipped = skips ? reader.prompt_tokens(call.prompt) : 0};
    const auto read = [&](std::size_t first, std::size_t count, Tokens& out) {
      reader.read(all.subspan(first, count), first, call.prompt, out);
    };
    as_error([&] { pool.compute(all.size(), request, call, read, sink); });
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
  impl_->encode(texts, OutputRequest::vectors, call, [&](std::size_t text, std::span<const float> row) {
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
  impl_->encode(texts, OutputRequest::tokens, call, [&](std::size_t text, std::span<const float> rows) {
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
  const OutputRequest request{.output = OutputRequest::scores, .function = chosen(*impl_->model, impl_->info, function)};
  const auto read = [&](std::size_t first, std::size_t count, Tokens& tokens) {
    impl_->reader.read(pairs.subspan(first, count), first, tokens);
  };
  impl_->pool.compute(pairs.size(), request, call, read, [&](std::size_t pair, std::span<const float> row) {
    std::copy(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(pair * labels));
  });
  return out;
}

void Encoder::prepare() const {
  const bool scores = impl_->info.labels > 0;
  impl_->pool.prepare(
      scores ? OutputRequest{.output = OutputRequest::scores, .function = chosen(*impl_->model, impl_->info, ScoreFunction::by_folder)}
             : OutputRequest{});
}

}  // namespace tenfold
