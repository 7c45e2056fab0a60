// The model that a request for text names, and its texts as the model's ids.
#pragma once

#include "core/models.h"
#include "text_requests/json_request.h"
#include "text_requests/text_options.h"
#include "text_requests/tokenizer_threads.h"

namespace tenfold::server {

struct TextModels {
  TextModels(std::shared_ptr<Models> models, const TextOptions& options)
      : models(std::move(models)), options(options), tokenizers(options.tokenizers) {}
  std::shared_ptr<Models> models;
  TextOptions options;
  mutable TokenizerThreads tokenizers;
};

// `name`: empty: the only model that takes text. Throws TextError: not ready, unknown, several and none named, a model that takes no text.
std::shared_ptr<Model> find_text_model(const TextModels& all, const std::string& name);
std::vector<std::shared_ptr<Model>> text_models(const Models& models);
// Throws TextError(wrong_model) for a model with a head, or without one; `scores` says which one is needed.
void need_vectors(const Model& model);
void need_scores(const Model& model);

// What a request says of its texts.
struct TextRules {
  std::string prompt;
  bool truncate = true;                          // what has too many tokens; false: it is refused
  KeptTokens kept = KeptTokens::by_folder;
};
// The ids of the texts, none of which is longer than the model takes. Throws TextError, with the field's name, for texts that are empty,
// too long, no text, and for ids that the model does not have.
std::vector<TokenizedText> tokenize(const Model& model, const TextInputs& inputs, const TextRules& rules, const char* field);
std::vector<TokenizedText> tokenize(const Model& model, const std::vector<TextOrPair>& inputs, const TextRules& rules, const char* field);
// The field `dimensions`; 0: it is not there. Throws TextError where the model's vectors may not be cut so.
std::int64_t read_dimensions(const JsonRequest& request, const Model& model, const TextOptions& options);
std::int64_t tokens_of(const std::vector<TokenizedText>& texts);

}  // namespace tenfold::server
