// infer(): a request of any protocol, once it is read, through a model's queue to its answer.
//
//   auto call = infer(models, std::move(request), [](InferAnswer answer) { ... });   // in any thread, once, maybe before it returns
//   call->cancel();                                                                  // the client has left
//
// Protocols read tensors into InferRequest and write InferAnswer; what is said of a model's inputs is said here, once.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/models.h"
#include "core/status.h"
#include "observe/tracer.h"

namespace tenfold::server {

// Where a tensor lies in a region of shared memory that a client has registered.
struct SharedPlace {
  std::string region;
  std::uint64_t offset = 0, bytes = 0;
};

struct InferInput {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::span<const std::byte>> pieces;   // the elements, which InferRequest::memory keeps
  std::vector<std::string> strings;                 // of DType::string, in place of pieces
  std::optional<SharedPlace> shared = {};           // in place of both
};

// What a client wants of an output, beside its elements in the response.
struct OutputWish {
  std::uint32_t classes = 0;                        // in place of the elements, the classes of so many of the largest; 0: the elements
  std::optional<SharedPlace> shared = {};           // it is written there
};

struct InferRequest {
  std::string model, version;                       // an empty version: the highest
  std::string id;
  std::vector<InferInput> inputs;
  std::vector<std::string> outputs;                 // empty: all. Each once
  std::vector<OutputWish> wishes = {};              // by output; empty: none
  std::chrono::microseconds timeout{0};             // of waiting in the queue; 0: the model's
  std::uint64_t priority = 0;                       // a level of the queue; 0: the default one
  std::vector<std::shared_ptr<const void>> memory;  // what the pieces point into
  TraceOrigin origin;
};

// Of the output that was added last.
inline void add_wish(InferRequest& request, OutputWish wish) {
  if (wish.classes == 0 && !wish.shared && request.wishes.empty()) return;
  request.wishes.resize(request.outputs.size());
  request.wishes.back() = std::move(wish);
}

// Bytes of an output, which are not zeroed before they are written. Once there they do not change: the cache of responses has them, too.
struct OutputBytes {
  std::shared_ptr<const std::byte[]> data;
  std::size_t size = 0;
};
struct InferOutput {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  OutputBytes bytes;
  std::vector<std::string> strings;                 // of DType::string, in place of bytes
  bool in_shared_memory = false;                    // in place of both: it was written there
};

struct InferAnswer {
  Status status;                                    // what follows is there if it is ok
  std::string model, version, id;
  std::vector<InferOutput> outputs;                 // in the order of the request, or of the model
};

class InferCall {
 public:
  virtual ~InferCall() = default;
  // Nobody waits for the answer any more: takes the request from the queue if it is still there. The answer comes all the same, once.
  virtual void cancel() noexcept = 0;
};

// The model that a request names. Throws RequestError, and counts the request where it does: it is no model's.
std::shared_ptr<Model> model_of_request(const Models& models, const std::string& name, const std::string& version);
// Checks the request, queues it, and has `answered` called, once. It is counted, however it ends. Throws nothing. Null: it was answered
// already.
std::shared_ptr<InferCall> infer(const Models& models, InferRequest request, std::function<void(InferAnswer)> answered) noexcept;

// Elements of BYTES as they are on the wire: each has its length in front, 4 bytes, little endian. Throws RequestError.
std::vector<std::string> read_bytes_elements(std::span<const std::span<const std::byte>> pieces, const std::string& input);
std::string write_bytes_elements(std::span<const std::string> elements);

}  // namespace tenfold::server
