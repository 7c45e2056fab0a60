// Texts through a model's queue, each a request of its own, and their results as one answer.
//
//   auto call = run_texts(model, TextOutput::vectors, prompt, std::move(tokenized), [](TextAnswer answer) { ... });
//   call->cancel();                             // the client has left
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/models.h"
#include "text_requests/text_error.h"

namespace tenfold::server {

// What a text gave: rows of a width.
struct TextResult {
  std::vector<float> values;
  std::int64_t rows = 0, width = 0;
};

struct TextAnswer {
  std::optional<TextError> error;                // of the first text that has one; what follows is there if there is none
  std::vector<TextResult> results;               // by text
  std::int64_t tokens = 0;
  std::chrono::nanoseconds queued{0}, computed{0};   // means of the texts
};

class TextCall {
 public:
  virtual ~TextCall() = default;
  // Nobody waits for the answer any more. It comes all the same, once.
  virtual void cancel() noexcept = 0;
};

// Calls `answered` once, in any thread, maybe before this returns. All texts are taken, or none.
std::shared_ptr<TextCall> run_texts(const std::shared_ptr<Model>& model, TextOutput output, const std::string& prompt,
                                    std::vector<TokenizedText> texts, std::function<void(TextAnswer)> answered);

}  // namespace tenfold::server
