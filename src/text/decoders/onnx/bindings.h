// What a decoder's ONNX file takes and gives: tokens, sizes, pairs of a past and the output that continues it, logits.
#pragma once

#include <string>
#include <vector>

#include "tenfold/network.h"

namespace tenfold::decoders::onnx {

// Inputs that sequences and their lengths say all of. Exporters agree on these names.
enum class Role { ids, mask, positions, places, last_places, longest, before };
struct Told {
  std::string name;
  NetworkTensor value;
  Role role;
};

enum class Form {
  concat,      // Concat(past, rows)
  scatter,     // TensorScatter of rows, or ScatterElements, into the past, which may be padded first: GroupQueryAttention is read as that
  attention,   // an Attention of ai.onnx with past_key and past_value
};
// A past and what continues it.
struct Cache {
  NetworkTensor past, present;
  std::string past_name, present_name;
  Form form = Form::concat;
  NetworkNodeRef node;    // that makes the present
  NetworkTensor places;   // of a scatter: the operand that says where it writes, where the graph computes that
  NetworkTensor rows;     // keys or values of this run's tokens; of an Attention as it takes them, maybe with packed heads
  std::int64_t heads = 0, size = 0;
  std::int64_t length = -1;           // of the past, where the file fixes it; -1: it is as long as the tokens are many
};

struct Bindings {
  std::vector<Told> told;
  std::vector<Cache> caches;     // in the order of the file's inputs
  std::string logits;
  std::vector<std::string> unknown;   // inputs that are none of these: they may turn out to be unused
  std::vector<std::string> ignored;   // outputs that nobody needs
};

// Throws invalid_model where an input, an output or a pair is missing, and unsupported for kinds of models and caches that are not run;
// each message names the binding.
Bindings find_bindings(const Network& net);

}  // namespace tenfold::decoders::onnx
