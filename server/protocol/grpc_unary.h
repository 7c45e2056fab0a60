// Methods of protobuf's messages as handlers of calls.
#pragma once

#include <utility>

#include "grpc/call.h"

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

}  // namespace tenfold::server::grpc
