// ModelInfer's messages, and the server's own requests and answers.
#pragma once

#include <string>

#include "core/inference.h"
#include "grpc/status.h"

namespace inference {
class ModelInferRequest;
}

namespace tenfold::server::grpc {

// Pieces of the request point into `message`, which must be among its memory. Throws RequestError.
InferRequest read_infer_request(const inference::ModelInferRequest& message, std::vector<std::shared_ptr<const void>> memory);
// A ModelInferResponse in protobuf's encoding. The outputs are appended to it as they are, for protobuf would copy them twice more.
std::string write_infer_response(const InferAnswer& answer);
// A ModelStreamInferResponse with it, or with an error.
std::string write_stream_response(const InferAnswer& answer);

CallStatus status_of(const Status& status);

}  // namespace tenfold::server::grpc
