#include "text_requests/text_call.h"

#include <atomic>
#include <utility>

namespace tenfold::server {
namespace {

class ListCall final : public TextCall, public std::enable_shared_from_this<ListCall> {
 public:
  ListCall(const std::shared_ptr<Model>& model, std::size_t texts, std::function<void(TextAnswer)> answered)
      : model_(model), counts_(model->texts()), left_(texts), errors_(texts), queued_(texts), computed_(texts),
        answered_(std::move(answered)) {
    answer_.results.resize(texts);
  }
  void start(const std::shared_ptr<Model>& model, TextOutput output, const std::string& prompt, std::vector<TokenizedText> texts);
  void cancel() noexcept override;
  const CancelToken& gone() const { return gone_; }
  TextResult& result(std::size_t text) { return answer_.results[text]; }
  void finish(std::size_t text, const RequestOutcome& outcome, std::chrono::steady_clock::time_point arrival) noexcept;

 private:
  void answer() noexcept;
  std::weak_ptr<Model> model_;                   // whose queue may end a request: it would wait for itself
  const std::shared_ptr<TextCounts> counts_;
  bool scores_ = false;
  std::vector<std::int64_t> lengths_;            // tokens, by text
  std::vector<std::shared_ptr<ServedRequest>> requests_;
  std::atomic<std::size_t> left_;
  const CancelToken gone_ = CancelToken::create();
  std::vector<std::optional<TextError>> errors_;
  std::vector<std::chrono::nanoseconds> queued_, computed_;
  TextAnswer answer_;
  std::function<void(TextAnswer)> answered_;
};

class OneText final : public ServedRequest {
 public:
  OneText(std::shared_ptr<ListCall> call, std::size_t number, TextWork work)
      : call_(std::move(call)), number_(number), work_(std::move(work)), arrival_(std::chrono::steady_clock::now()) {}
  std::span<const RequestInput> inputs() const override { return {}; }
  bool cancelled() const override { return call_->gone().cancelled(); }
  CancelToken cancel_token() const override { return call_->gone(); }
  std::int64_t tokens() const override { return work_.tokens(); }
  const TextWork* text_work() const override { return &work_; }
  void* output_memory(int, std::span<const std::int64_t> shape, std::int64_t bytes) override {
    TextResult& result = call_->result(number_);
    result.values.resize(static_cast<std::size_t>(bytes) / sizeof(float));
    result.rows = shape[0], result.width = shape[1];
    return result.values.data();
  }
  void take_strings(int, std::span<const std::int64_t>, std::span<const std::string>) override {}
  void finish(const RequestOutcome& outcome) noexcept override { std::exchange(call_, nullptr)->finish(number_, outcome, arrival_); }

 private:
  std::shared_ptr<ListCall> call_;
  std::size_t number_;
  TextWork work_;
  std::chrono::steady_clock::time_point arrival_;
};

void ListCall::start(const std::shared_ptr<Model>& model, TextOutput output, const std::string& prompt, std::vector<TokenizedText> texts) {
  scores_ = output == TextOutput::raw_scores;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lengths_.push_back(static_cast<std::int64_t>(texts[i].ids.size()));
    answer_.tokens += lengths_.back();
    counts_->asked(scores_, lengths_.back());
    TextWork work{output, {}, prompt};
    work.texts.push_back(std::move(texts[i]));
    requests_.push_back(std::make_shared<OneText>(shared_from_this(), i, std::move(work)));
  }
  const std::vector<std::shared_ptr<ServedRequest>> submitted = requests_;   // the last of them to end lets go of the call's own
  model->queue().submit(submitted);
}

void ListCall::cancel() noexcept {
  gone_.cancel();
  if (const std::shared_ptr<Model> model = model_.lock())
    for (const auto& request : requests_) model->queue().cancel(*request);
}

void ListCall::finish(std::size_t text, const RequestOutcome& outcome, std::chrono::steady_clock::time_point arrival) noexcept {
  if (outcome.error) errors_[text] = as_text_error(outcome);
  if (!outcome.error) counts_->succeeded(scores_);
  if (outcome.run) counts_->ran(outcome.run->start, outcome.run->rows, lengths_[text]);
  if (outcome.run) queued_[text] = outcome.run->start - arrival, computed_[text] = outcome.run->compute_end - outcome.run->compute_start;
  if (--left_ == 0) answer();
}

void ListCall::answer() noexcept {
  for (std::size_t i = 0; i < errors_.size(); ++i) {
    if (errors_[i] && !answer_.error) answer_.error = std::move(errors_[i]);
    answer_.queued += queued_[i], answer_.computed += computed_[i];
  }
  if (answer_.error) answer_.results.clear();
  const auto texts = static_cast<std::int64_t>(errors_.size());
  answer_.queued /= texts, answer_.computed /= texts;
  // What is called may hold this call, so it is let go.
  std::exchange(answered_, nullptr)(std::move(answer_));
}

}  // namespace

std::shared_ptr<TextCall> run_texts(const std::shared_ptr<Model>& model, TextOutput output, const std::string& prompt,
                                    std::vector<TokenizedText> texts, std::function<void(TextAnswer)> answered) {
  const auto call = std::make_shared<ListCall>(model, texts.size(), std::move(answered));
  call->start(model, output, prompt, std::move(texts));
  return call;
}

}  // namespace tenfold::server
