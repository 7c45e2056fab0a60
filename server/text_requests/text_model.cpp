#include "text_requests/text_model.h"

#include <algorithm>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

// Tells the model's counts how long it lived.
class Timed {
 public:
  explicit Timed(const Model& model) : counts_(*model.texts()) {}
  ~Timed() { counts_.tokenized(std::chrono::steady_clock::now() - start_); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  TextCounts& counts_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string quoted(const std::vector<std::shared_ptr<Model>>& models) {
  std::string out;
  for (const auto& model : models) out += (out.empty() ? "'" : ", '") + model->name() + "'";
  return out;
}

std::string place(const char* field, std::size_t text, std::size_t texts) {
  return "'" + std::string(field) + "'" + (texts > 1 ? " (text " + std::to_string(text) + ")" : "");
}

[[noreturn]] void refuse_empty(const std::string& where, const char* field) {
  throw TextError(TextFault::empty, where + " cannot be empty: it is a text without characters", field);
}

void check_length(const TokenizedText& text, const Model& model, const TextRules& rules, const std::string& where, const char* field) {
  const int max = model.encoder()->encoder().info().max_tokens;
  if (text.length > static_cast<std::size_t>(max) && !rules.truncate)
    throw TextError(TextFault::too_many, where + " must have less than " + std::to_string(max + 1) + " tokens. Given: " +
                                             std::to_string(text.length) + " (\"truncate\": true cuts it)", field);
}

// What the tokenizer throws is told as the text's fault.
template <class Make>
TokenizedText tokenized(const std::string& where, const char* field, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw TextError(TextFault::tokenizer, where + ": " + error.what(), field);
  }
}

TokenizedText from_ids(const std::vector<std::int32_t>& ids, const Model& model, const TextRules& rules, const std::string& where,
                       const char* field) {
  const EncoderInfo& info = model.encoder()->encoder().info();
  if (ids.empty()) throw TextError(TextFault::empty, where + " cannot be empty: it is a list without token ids", field);
  for (const std::int32_t id : ids)
    if (id >= info.vocabulary)
      throw TextError(TextFault::tokenizer, where + " has the token id " + std::to_string(id) + ", but the vocabulary of '" + model.name() +
                                                "' has the ids 0 to " + std::to_string(info.vocabulary - 1), field);
  TokenizedText text{ids, {}, ids.size()};
  check_length(text, model, rules, where, field);
  const auto max = static_cast<std::ptrdiff_t>(info.max_tokens);
  if (std::ssize(ids) > max) {
    if (rules.kept == KeptTokens::last) text.ids.erase(text.ids.begin(), text.ids.end() - max);
    else text.ids.resize(static_cast<std::size_t>(max));
  }
  return text;
}

}  // namespace

std::vector<std::shared_ptr<Model>> text_models(const Models& models) {
  std::vector<std::shared_ptr<Model>> all;
  for (const auto& model : models.all())
    if (model->encoder()) all.push_back(model);
  return all;
}

std::shared_ptr<Model> find_text_model(const TextModels& all, const std::string& name) {
  if (!all.models->accepting()) throw TextError(TextFault::unavailable, "the server takes no requests: it is loading or stopping");
  const auto known = text_models(*all.models);
  if (known.empty()) throw TextError(TextFault::unknown_model, "no model of this server takes text", "model");
  const auto found = std::find_if(known.rbegin(), known.rend(), [&](const auto& model) { return model->name() == name; });
  if (found != known.rend()) return *found;
  if (known.size() == 1 && (name.empty() || all.options.any_model_name)) return known.front();
  if (name.empty())
    throw TextError(TextFault::field, "several models take text, so the request must name one of " + quoted(known) + ": by 'model', or by "
                                      "the path /models/NAME/...", "model");
  throw TextError(TextFault::unknown_model, "there is no model '" + name + "' that takes text; there is " + quoted(known), "model");
}

void need_vectors(const Model& model) {
  if (model.encoder()->encoder().info().labels > 0)
    throw TextError(TextFault::wrong_model, "model is not an embedding model: '" + model.name() +
                                                "' has a classification head, which /rerank and /predict ask");
}

void need_scores(const Model& model) {
  if (model.encoder()->encoder().info().labels == 0)
    throw TextError(TextFault::wrong_model, "model is not a classification or re-ranker model: '" + model.name() +
                                                "' gives vectors, which /embed and /v1/embeddings ask for");
}

std::vector<TokenizedText> tokenize(const Model& model, const TextInputs& inputs, const TextRules& rules, const char* field) {
  const Timed timed(model);
  std::vector<TokenizedText> all;
  all.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string where = place(field, i, inputs.size());
    if (inputs.texts.empty()) {
      all.push_back(from_ids(inputs.ids[i], model, rules, where, field));
      continue;
    }
    if (inputs.texts[i].empty()) refuse_empty(where, field);
    all.push_back(tokenized(where, field, [&] { return model.encoder()->encoder().tokenize(inputs.texts[i], rules.prompt, rules.kept); }));
    check_length(all.back(), model, rules, where, field);
  }
  return all;
}

std::vector<TokenizedText> tokenize(const Model& model, const std::vector<TextOrPair>& inputs, const TextRules& rules, const char* field) {
  const Timed timed(model);
  const Encoder& encoder = model.encoder()->encoder();
  std::vector<TokenizedText> all;
  all.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string where = place(field, i, inputs.size());
    const TextOrPair& input = inputs[i];
    if (input.first.empty()) refuse_empty(where, field);
    all.push_back(tokenized(where, field, [&] {
      return input.second ? encoder.tokenize_pair(input.first, *input.second) : encoder.tokenize(input.first, {}, rules.kept);
    }));
    check_length(all.back(), model, rules, where, field);
  }
  return all;
}

std::int64_t read_dimensions(const JsonRequest& request, const Model& model, const TextOptions& options) {
  const std::int64_t dimensions = request.integer("dimensions", 0, 1);
  const EncoderInfo& info = model.encoder()->encoder().info();
  const auto refuse = [&](const std::string& why) {
    throw TextError(TextFault::field, "'dimensions' is " + std::to_string(dimensions) + ", but " + why, "dimensions");
  };
  if (dimensions == 0 || dimensions == info.width) return dimensions;
  if (dimensions > info.width) refuse("the vectors of '" + model.name() + "' have " + std::to_string(info.width));
  if (options.allow_dimensions) return dimensions;
  if (!info.matryoshka)
    refuse("'" + model.name() + "' does not say that its vectors may be cut (matryoshka_dimensions in config.json): leave it out, or start "
           "the server with --allow-dimensions");
  const std::vector<int>& widths = info.matryoshka_dimensions;
  std::string known;
  for (const int width : widths) known += (known.empty() ? "" : ", ") + std::to_string(width);
  if (!widths.empty() && std::find(widths.begin(), widths.end(), dimensions) == widths.end())
    refuse("the vectors of '" + model.name() + "' may be cut to " + known);
  return dimensions;
}

std::int64_t tokens_of(const std::vector<TokenizedText>& texts) {
  std::int64_t all = 0;
  for (const TokenizedText& text : texts) all += static_cast<std::int64_t>(text.ids.size());
  return all;
}

}  // namespace tenfold::server
