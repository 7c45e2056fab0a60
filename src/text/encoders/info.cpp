#include "text/encoders/info.h"

#include <algorithm>

#include "text/encoders/pooling/pooling.h"
#include "text/fail.h"

namespace tenfold::encoders {

using tokenizing::fail;

namespace {

constexpr int kUsualTokens = 512;  // where nothing says how long texts may be

int max_tokens_of(const Model& model, const EncoderOptions& options) {
  const int places = max_places(model);
  if (options.max_tokens < 0)
    fail(ErrorKind::invalid_argument, "max_tokens is " + std::to_string(options.max_tokens) + ", 0 or more was expected");
  if (options.dimensions < kAllDimensions)
    fail(ErrorKind::invalid_argument,
         "dimensions is " + std::to_string(options.dimensions) + ", a number, 0 (by the folder) or -1 (all) was expected");
  if (options.max_tokens > 0 && places > 0 && options.max_tokens > places)
    fail(ErrorKind::invalid_argument,
         "max_tokens is " + std::to_string(options.max_tokens) + ", but the model has places for " + std::to_string(places));
  const int request = options.max_tokens > 0 ? options.max_tokens : model.folder.max_tokens;
  if (request == 0) return places > 0 ? places : kUsualTokens;
  return places > 0 ? std::min(request, places) : request;
}

std::vector<std::string> label_names(const Model& model, int labels) {
  std::vector<std::string> all;
  const auto names = model.folder.config.find("id2label");
  for (int i = 0; i < labels; ++i) {
    const std::string at = std::to_string(i);
    const bool named = names != model.folder.config.end() && names->contains(at) && names->at(at).is_string();
    all.push_back(named ? names->at(at).get<std::string>() : "LABEL_" + at);
  }
  return all;
}

void read_matryoshka(const Model& model, EncoderInfo& info) {
  const auto says = model.folder.config.find("is_matryoshka"), widths = model.folder.config.find("matryoshka_dimensions");
  if (widths != model.folder.config.end() && widths->is_array())
    for (const auto& one : *widths)
      if (one.is_number_integer()) info.matryoshka_dimensions.push_back(one.get<int>());
  const bool said = says != model.folder.config.end() && says->is_boolean() && says->get<bool>();
  info.matryoshka = said || !info.matryoshka_dimensions.empty() || info.truncate_dim > 0;
}

}  // namespace

EncoderInfo info_of(const Model& model, const EncoderOptions& options) {
  for (const Module& module : model.folder.modules)
    if (options.build.log && module.type == "Pooling" && refuses_all_poolings(module.json()))
      options.build.log(Severity::warning, module.json().where + ": all pooling modes are false; the mean is taken, as "
                                                                "sentence-transformers does");
  EncoderInfo info;
  info.architecture = model.architecture ? model.folder.json().text("model_type") : "onnx";
  info.max_tokens = max_tokens_of(model, options);
  const auto width = [&](OutputRequest::Output output) {
    const Network net = model.network({.output = output}, options);
    return static_cast<int>(net.dims(net.outputs().front()).back().extent);
  };
  if (model.folder.is_classifier() && model.architecture) {
    info.labels = width(OutputRequest::scores);
    info.label_names = label_names(model, info.labels);
    try {
      info.score_function = score_function(model, info.labels);
    } catch (const Error&) {
      info.score_function = ScoreFunction::by_folder;   // callers that name a function need not know it
    }
  } else {
    info.width = width(OutputRequest::vectors), info.token_width = width(OutputRequest::tokens);
  }
  info.prompts = model.folder.prompts, info.default_prompt = model.folder.default_prompt, info.similarity = model.folder.similarity;
  info.lower_case = model.folder.lower_case, info.truncate_dim = model.folder.truncate_dim;
  read_matryoshka(model, info);
  if (model.architecture) info.vocabulary = static_cast<int>(model.weights->shape(model.table, {-1, -1})[0]);
  info.padding_id = static_cast<int>(model.folder.json().number("pad_token_id", 0, 1 << 30, 0));
  return info;
}

void check_vocabulary(const Model& model, const Tokenizer& tokenizer) {
  if (!model.architecture) return;
  const std::int64_t rows = model.weights->shape(model.table, {-1, -1})[0];
  if (tokenizer.vocabulary_size() > rows)
    fail(ErrorKind::invalid_model, "the tokenizer of '" + model.folder.path + "' has " + std::to_string(tokenizer.vocabulary_size()) +
                                       " tokens, but the weights have embeddings for " + std::to_string(rows) +
                                       "; tokenizer and weights are of different models");
}

}  // namespace tenfold::encoders
