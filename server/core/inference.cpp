// A request of the server as a ServedRequest in a model's queue.
#include "core/inference.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/checks.h"
#include "core/response_cache.h"
#include "core/text_work.h"
#include "core/wishes.h"
#include "observe/log.h"
#include "observe/request_counts.h"

namespace tenfold::server {
namespace {

Status status_of(const RequestOutcome& outcome) {
  if (!outcome.error) return {};
  switch (outcome.ended_by) {
    case EndedBy::full_queue: return {Code::unavailable, "Exceeds maximum queue size"};
    case EndedBy::timeout: return {Code::unavailable, "Request timeout expired"};
    case EndedBy::stop: return {Code::unavailable, "Server is stopping, scheduler for model has stopped accepting new inference requests"};
    case EndedBy::cancel: return {Code::cancelled, "Request was cancelled"};
    default: return {code_of(outcome.error->kind()), outcome.error->what()};
  }
}

// What cannot be fulfilled is the answer's error.
void fulfil(const Wishes& wishes, InferAnswer& answer) noexcept {
  if (!answer.status) return;
  try {
    return wishes.fulfil(answer.outputs);
  } catch (const RequestError& error) {
    answer.status = {error.code, error.what()};
  } catch (const std::bad_alloc&) {
    answer.status = {Code::unavailable, "out of memory"};
  }
  answer.outputs.clear();
}

// To traces and logs.
void report_end(std::unique_ptr<RequestTrace> trace, const Status& status, const std::string& model, const std::string& version,
              const std::string& id) noexcept {
  try {
    if (logs_verbose(1))
      log_verbose(1, "model '" + model + "', version " + version + ", request '" + id + "': " + (status ? "ok" : status.message));
    if (!trace) return;
    trace->id = id;
    if (!status) trace->error = status.message;
  } catch (const std::bad_alloc&) {              // the request is answered all the same
  }
  if (!trace) return;
  trace->end = std::chrono::steady_clock::now();
  tracer().end(std::move(trace));
}

class QueuedRequest final : public ServedRequest, public InferCall {
 public:
  // It must not keep the model: its queue, in whose threads a request may end, would wait for itself.
  QueuedRequest(const std::shared_ptr<Model>& model, InferRequest request, std::unique_ptr<RequestTrace> trace,
                std::function<void(InferAnswer)> answered)
      : model_(model),
        served_(model->shared_served()),
        reshapes_(model->options().output_reshapes),
        batched_(model->max_batch() > 0),
        request_(std::move(request)),
        answered_(std::move(answered)),
        trace_(std::move(trace)) {
    answer_.model = model->name(), answer_.version = model->version(), answer_.id = request_.id;
    for (const InferInput& input : request_.inputs)
      inputs_.push_back({input.name, input.dtype, input.shape, input.pieces, input.dtype == DType::string ? &input.strings : nullptr});
    if (model->encoder()) work_ = text_work_of(*model->encoder(), request_);
    const auto& bindings = served_->bindings();
    places_.resize(bindings.size(), -1);
    if (request_.outputs.empty()) {
      for (const BindingInfo& b : bindings)
        if (!b.is_input) request_.outputs.push_back(b.name);
    }
    answer_.outputs.resize(request_.outputs.size());
    for (std::size_t i = 0; i < request_.outputs.size(); ++i)
      for (std::size_t b = 0; b < bindings.size(); ++b)
        if (!bindings[b].is_input && bindings[b].name == request_.outputs[i]) places_[b] = static_cast<int>(i);
  }

  std::span<const RequestInput> inputs() const override { return inputs_; }
  std::int64_t tokens() const override { return work_ ? work_->tokens() : 0; }
  const TextWork* text_work() const override { return work_ ? &*work_ : nullptr; }
  bool cancelled() const override { return gone_.cancelled(); }
  CancelToken cancel_token() const override { return gone_; }
  bool requests_output(int output) const override { return places_[static_cast<std::size_t>(output)] >= 0; }
  void* output_memory(int output, std::span<const std::int64_t> shape, std::int64_t bytes) override {
    InferOutput& made = describe(output, shape);
    made.bytes.size = static_cast<std::size_t>(bytes);
    std::shared_ptr<std::byte[]> memory = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(made.bytes.size, 1));
    std::byte* const to = memory.get();
    made.bytes.data = std::move(memory);
    return to;
  }
  void take_strings(int output, std::span<const std::int64_t> shape, std::span<const std::string> values) override {
    describe(output, shape).strings.assign(values.begin(), values.end());
  }
  void finish(const RequestOutcome& outcome) noexcept override {
    answer_.status = status_of(outcome);
    if (answer_.status && cache_) keep();
    if (!wishes_.none()) fulfil(wishes_, answer_);
    if (!answer_.status) {
      answer_.outputs.clear();
      if (const std::shared_ptr<Model> model = model_.lock()) model->errors().add(answer_.status.message);
    }
    if (outcome.run && trace_) trace_->run = *outcome.run;
    report_end(std::move(trace_), answer_.status, answer_.model, answer_.version, answer_.id);
    // What is called may hold this request, so it is let go.
    std::exchange(answered_, nullptr)(std::move(answer_));
  }
  void set_wishes(Wishes wishes) { wishes_ = std::move(wishes); }
  // Has the answer kept for requests like this one.
  void keep_in(std::shared_ptr<ResponseCache> cache, CacheKey key) { cache_ = std::move(cache), key_ = std::move(key); }
  void cancel() noexcept override {
    gone_.cancel();
    if (const std::shared_ptr<Model> model = model_.lock()) model->queue().cancel(*this);
  }

 private:
  InferOutput& describe(int output, std::span<const std::int64_t> shape) {
    const BindingInfo& binding = served_->bindings()[static_cast<std::size_t>(output)];
    InferOutput& made = answer_.outputs[static_cast<std::size_t>(places_[static_cast<std::size_t>(output)])];
    made.name = binding.name, made.dtype = binding.dtype;
    made.shape.assign(shape.begin(), shape.end());
    if (const auto reshape = reshapes_.find(binding.name); reshape != reshapes_.end())
      made.shape = reshaped(shape, reshape->second.model, reshape->second.dims, batched_);
    return made;
  }

  void keep() noexcept {
    try {
      cache_->add(std::move(key_), std::make_shared<const std::vector<InferOutput>>(answer_.outputs));
    } catch (const std::bad_alloc&) {              // then it is not kept
    }
  }

  std::weak_ptr<Model> model_;
  std::shared_ptr<const ServedModel> served_;
  const std::map<std::string, Reshape> reshapes_;
  const bool batched_;
  InferRequest request_;
  std::optional<TextWork> work_;                 // of an encoder, in place of the strings
  std::vector<RequestInput> inputs_;
  std::vector<int> places_;                      // by binding: of the answer's outputs; -1: it is not requested
  InferAnswer answer_;
  std::function<void(InferAnswer)> answered_;
  Wishes wishes_;
  std::shared_ptr<ResponseCache> cache_;         // null: the answer is not kept
  CacheKey key_;
  std::unique_ptr<RequestTrace> trace_;          // null: it is not traced
  const CancelToken gone_ = CancelToken::create();   // tripped when the client has left
};

std::uint32_t length_at(const std::string& bytes, std::size_t at) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + at, sizeof length);
  return length;
}

using Clock = std::chrono::steady_clock;

// The answer, if the cache has it.
std::optional<InferAnswer> cached(Model& model, ResponseCache& cache, const CacheKey& key, const InferRequest& request,
                                  Clock::time_point start) {
  const ResponseCache::Outputs outputs = cache.find(key);
  if (!outputs) {
    model.queue().note_cache_miss(Clock::now() - start);
    return std::nullopt;
  }
  InferAnswer answer{{}, model.name(), model.version(), request.id, *outputs};
  model.queue().note_cache_hit(start, start);
  return answer;
}

}  // namespace

std::shared_ptr<Model> model_of_request(const Models& models, const std::string& name, const std::string& version) {
  if (!models.accepting()) {
    request_counts().count(Unassigned::not_ready);
    throw RequestError(Code::unavailable, "the server takes no requests: it is loading or stopping");
  }
  try {
    return models.find(name, version);
  } catch (...) {
    request_counts().count(Unassigned::unknown_model);
    throw;
  }
}

std::shared_ptr<InferCall> infer(const Models& models, InferRequest request, std::function<void(InferAnswer)> answered) noexcept {
  InferAnswer refused;
  std::shared_ptr<Model> model;
  refused.id = request.id;
  try {
    model = model_of_request(models, request.model, request.version);
    read_shared_inputs(*models.shared_memory(), request);
    check_request(*model, request);
    std::unique_ptr<RequestTrace> trace = tracer().begin(request.origin, model->name(), model->version());
    const std::shared_ptr<ResponseCache> cache = model->options().cache_responses ? models.cache() : nullptr;
    Wishes wishes;
    if (!request.wishes.empty())
      wishes = {*models.shared_memory(), std::move(request.wishes), model->options().labels, model->max_batch() > 0};
    CacheKey key;
    if (cache) {
      const Clock::time_point start = Clock::now();
      key = CacheKey(*model, request);
      if (std::optional<InferAnswer> answer = cached(*model, *cache, key, request, start)) {
        if (!wishes.none()) fulfil(wishes, *answer);
        report_end(std::move(trace), answer->status, answer->model, answer->version, answer->id);
        answered(std::move(*answer));
        return nullptr;
      }
    }
    const std::chrono::microseconds timeout = request.timeout;
    const auto priority = static_cast<std::uint32_t>(request.priority);
    // `answered` stays here until nothing can be thrown any more but by submit(), which then has not finished the request.
    const auto queued = std::make_shared<QueuedRequest>(model, std::move(request), std::move(trace), answered);
    if (cache) queued->keep_in(cache, std::move(key));
    if (!wishes.none()) queued->set_wishes(std::move(wishes));
    model->queue().submit(queued, timeout, priority);
    return queued;
  } catch (const RequestError& error) {
    refused.status = {error.code, error.what()};
  } catch (const std::bad_alloc&) {
    refused.status = {Code::unavailable, "out of memory"};
  } catch (const std::exception& error) {
    refused.status = {Code::internal, error.what()};
  }
  if (model) {
    model->count_refused(refused.status.message);
    auto trace = tracer().begin(request.origin, model->name(), model->version());
    report_end(std::move(trace), refused.status, model->name(), model->version(), refused.id);
  }
  answered(std::move(refused));
  return nullptr;
}

std::vector<std::string> read_bytes_elements(std::span<const std::span<const std::byte>> pieces, const std::string& input) {
  std::string bytes;
  for (const auto& piece : pieces) bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  std::vector<std::string> elements;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t left = bytes.size() - at;
    if (left < 4 || length_at(bytes, at) > left - 4)
      throw RequestError(Code::invalid_argument, "incomplete string data for inference input '" + input + "': element " +
                                                     std::to_string(elements.size()) +
                                                         " is cut off; each has its length in front, 4 bytes");
    const std::uint32_t length = length_at(bytes, at);
    elements.push_back(bytes.substr(at + 4, length));
    at += 4 + length;
  }
  return elements;
}

std::string write_bytes_elements(std::span<const std::string> elements) {
  std::string bytes;
  for (const std::string& element : elements) {
    const auto length = static_cast<std::uint32_t>(element.size());
    bytes.append(reinterpret_cast<const char*>(&length), 4).append(element);
  }
  return bytes;
}

}  // namespace tenfold::server
