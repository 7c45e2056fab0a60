// What requests wish beside inference: tensors in shared memory, the classes of the largest values.
#pragma once

#include <map>

#include "core/inference.h"
#include "core/shared_memory.h"

namespace tenfold::server {

using Labels = std::map<std::string, std::vector<std::string>>;   // of classes, by output

// Reads the inputs that lie in shared memory. Throws RequestError.
void read_shared_inputs(const SharedMemory& memory, InferRequest& request);

// What is wished of an answer's outputs.
class Wishes {
 public:
  Wishes() = default;
  // Throws RequestError for a place in shared memory that there is not. `labels` stay as long as the model.
  Wishes(const SharedMemory& memory, std::vector<OutputWish> wishes, const Labels& labels, bool batched);
  bool none() const { return wishes_.empty(); }
  // Throws RequestError for a type without classes, and a place that is too small.
  void fulfil(std::vector<InferOutput>& outputs) const;

 private:
  std::vector<OutputWish> wishes_;               // by output; empty: none
  std::vector<std::shared_ptr<const SharedRegion>> regions_;   // by output
  const Labels* labels_ = nullptr;
  bool batched_ = false;
};

// The largest values of each row as Triton has them: "value:index" or "value:index:label", in falling order.
InferOutput classified(const InferOutput& output, std::uint32_t classes, const std::vector<std::string>& labels, bool batched);

}  // namespace tenfold::server
