// Methods of protobuf's messages as handlers of calls.
#pragma once

#include <utility>

#include "grpc/call.h"
#include "protocol/grpc_tensors.h"

namespace tenfold::server::grpc {

// `answer` fills the response in, or says why not. It is called in the connection's thread, so it must not take long.
template <class Request, class Response, class Answer>
Method unary_method(Answer answer) {
  return {.unary = [answer = std::move(answer)](const std::shared_ptr<Call>& call, const Message& message) {
    Request request;
    if (!request.ParseFromString(message.bytes))
      return call->finish({StatusCode::internal, "the request is not a " + request.GetTypeName()});
    Response response;
    CallStatus status = answer(std::as_const(request), response);
    if (status.code == StatusCode::ok) call->answer(response.SerializeAsString(), {});
    else call->finish(std::move(status));
  }};
}

// The same, where `answer` returns nothing: the RequestError that it may throw becomes the call's status.
template <class Request, class Response, class Answer>
Method throwing_method(Answer answer) {
  return unary_method<Request, Response>([answer = std::move(answer)](const Request& request, Response& response) -> CallStatus {
    try {
      answer(request, response);
      return {};
    } catch (const RequestError& error) {
      return status_of({error.code, error.what()});
    }
  });
}

}  // namespace tenfold::server::grpc
