// ModelInfer and ModelStreamInfer, through the queues of the models.
#include "protocol/grpc_inference.h"

#include <deque>
#include <mutex>

#include "core/inference.h"
#include "grpc_service.pb.h"
#include "observe/request_counts.h"
#include "protocol/grpc_tensors.h"

namespace tenfold::server::grpc {
namespace {


struct Parsed {
  inference::ModelInferRequest message;
  std::shared_ptr<const void> hold;  // what it takes counts until the request's memory is let go
};

// Reads the request and queues it. `answered` is called once, also for one that is refused.
std::shared_ptr<InferCall> submit(const Models& models, const Call& call, Message message, std::function<void(InferAnswer)> answered) {
  const auto received = std::chrono::steady_clock::now();
  auto parsed = std::make_shared<Parsed>();
  parsed->hold = std::move(message.hold);
  const auto refuse = [&](Code code, const std::string& why) -> std::shared_ptr<InferCall> {
    InferAnswer answer{.status = {code, why}};
    answer.id = parsed->message.id();
    answered(std::move(answer));
    return nullptr;
  };
  if (!parsed->message.ParseFromString(message.bytes)) {
    request_counts().count(Unassigned::malformed);
    return refuse(Code::invalid_argument, "the request is not a ModelInferRequest");
  }
  message.bytes = {};
  std::shared_ptr<Model> model;
  InferRequest request;
  try {
    model = model_of_request(models, parsed->message.model_name(), parsed->message.model_version());
    request = read_infer_request(parsed->message, {parsed});
    request.origin = {std::string(call.metadata("traceparent")), std::string(call.metadata("tracestate")), "GRPC", received};
  } catch (const std::exception& error) {
    if (model) model->count_refused(error.what());
    const auto* known = dynamic_cast<const RequestError*>(&error);
    return refuse(known ? known->code : Code::internal, error.what());
  }
  return infer(models, std::move(request), answered);
}

void model_infer(const Models& models, const std::shared_ptr<Call>& call, Message message) {
  const auto infer_call = submit(models, *call, std::move(message), [call](InferAnswer answer) {
    if (answer.status) call->answer(write_infer_response(answer), {});
    else call->finish(status_of(answer.status));
  });
  if (infer_call) call->on_cancel([infer_call] { infer_call->cancel(); });
}

// Answers come in the order of the requests. An error is an answer: the stream goes on.
class InferStream final : public RequestStream {
 public:
  InferStream(std::shared_ptr<Models> models, const std::shared_ptr<Call>& call)
      : models_(std::move(models)), state_(std::make_shared<State>()) {
    state_->call = call;
    // The call keeps this function, so it must not keep the call.
    call->on_cancel([weak = std::weak_ptr(state_)] {
      if (const auto state = weak.lock()) state->cancel();
    });
  }
  ~InferStream() override { state_->cancel(); }

  void on_message(Message message) override {
    const std::size_t number = state_->begin();
    const auto infer_call = submit(*models_, *state_->call, std::move(message), [state = state_, number](const InferAnswer& answer) {
      state->answer(number, write_stream_response(answer));
    });
    if (infer_call) state_->keep(number, infer_call);
  }
  void on_end() override { state_->end(); }

 private:
  struct Slot {
    std::shared_ptr<InferCall> infer_call;
    std::optional<std::string> answer;
  };
  struct State {
    std::shared_ptr<Call> call;
    std::mutex mutex;
    std::deque<Slot> slots;  // of requests that are not answered; the first has the number `first`
    std::size_t first = 0;
    bool ended = false, cancelled = false;

    std::size_t begin() {
      const std::lock_guard lock(mutex);
      slots.emplace_back();
      return first + slots.size() - 1;
    }
    void keep(std::size_t number, std::shared_ptr<InferCall> infer_call) {
      {
        const std::lock_guard lock(mutex);
        if (number < first) return;  // it was answered meanwhile
        if (!cancelled) {
          slots[number - first].infer_call = std::move(infer_call);
          return;
        }
      }
      infer_call->cancel();
    }
    void answer(std::size_t number, std::string text) {
      const std::lock_guard lock(mutex);
      slots[number - first].answer = std::move(text);
      slots[number - first].infer_call = nullptr;
      for (; !slots.empty() && slots.front().answer; ++first) {
        call->send(std::move(*slots.front().answer));
        slots.pop_front();
      }
      if (slots.empty() && (ended || cancelled))
        call->finish(cancelled ? CallStatus{StatusCode::cancelled, "the client has left"} : CallStatus{});
    }
    void end() {
      const std::lock_guard lock(mutex);
      ended = true;
      if (slots.empty()) call->finish({});
    }
    void cancel() {
      std::vector<std::shared_ptr<InferCall>> calls;
      {
        const std::lock_guard lock(mutex);
        if (cancelled) return;
        cancelled = true;
        for (const Slot& slot : slots)
          if (slot.infer_call) calls.push_back(slot.infer_call);
        if (slots.empty()) call->finish({StatusCode::cancelled, "the client has left"});
      }
      for (const auto& infer_call : calls) infer_call->cancel();
    }
  };

  const std::shared_ptr<Models> models_;
  const std::shared_ptr<State> state_;
};

}  // namespace

void add_inference(Services& services, std::shared_ptr<Models> models) {
  add_metadata(services, models);
  add_repository(services, models);
  add_shared_memory(services, models);
  add_settings(services, models);
  services[kService + "ModelInfer"] = {
      .unary = [models](const std::shared_ptr<Call>& call, Message message) { model_infer(*models, call, std::move(message)); }};
  services[kService + "ModelStreamInfer"] = {
      .stream = [models](const std::shared_ptr<Call>& call) { return std::make_unique<InferStream>(models, call); }};
}

}  // namespace tenfold::server::grpc
