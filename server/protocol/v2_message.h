// infer's messages over HTTP: JSON, with tensors in it or as bytes behind it (Triton's binary tensor extension).
#pragma once

#include <optional>
#include <string_view>

#include "core/inference.h"

namespace tenfold::server {

struct V2Body {
  std::shared_ptr<const void> owner;
  std::string_view bytes;                        // with 64 readable bytes behind it
  std::string_view header_length;                // the value of Inference-Header-Content-Length; empty: it was not sent
};

struct OutputForms {
  std::vector<bool> binary;                      // by requested output
  bool all_binary = false;                       // where no outputs are named
};
struct V2Request {
  InferRequest request;
  OutputForms forms;
};
// Throws RequestError. `model` has the tensors' types where the body is nothing but one tensor.
V2Request read_v2_request(const V2Body& body, const Model& model);

struct V2Response {
  std::string json;
  std::vector<OutputBytes> binary;               // behind it, in this order
  std::size_t binary_bytes = 0;
};
// Throws RequestError for a value that JSON cannot hold.
V2Response write_v2_response(InferAnswer answer, const OutputForms& forms);

}  // namespace tenfold::server
