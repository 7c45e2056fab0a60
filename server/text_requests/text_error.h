// What is wrong with a request for text, in terms that TEI, OpenAI and rerankers map to statuses and words of their own.
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"
#include "tenfold/serving/served_request.h"

namespace tenfold::server {

enum class TextFault : std::uint8_t {
  syntax,        // no JSON
  field,         // a field is missing, unknown in its value or of another type
  empty,         // no texts
  too_many,      // texts in a list, tokens in a text
  tokenizer,     // text that cannot be tokenized, ids that the model does not have
  wrong_model,   // the model does not do this
  unknown_model,
  unsupported,   // this server does not do it
  overloaded,    // the queue is full
  unavailable,   // loading, stopping, out of memory; a timeout passed
  backend,       // the run failed
  cancelled,
};

struct TextError : RequestError {
  TextError(TextFault fault, const std::string& message, const std::string& field = "");
  TextFault fault;
  std::string field;                             // the one that is wrong; empty: none
};

// Errors of code that knows nothing of text.
TextError as_text_error(const RequestError& error);
TextError as_text_error(const RequestOutcome& outcome);   // it has an error

// The name that TEI has for it, which OpenAI's and rerankers' bodies repeat: "validation".
std::string_view name(TextFault fault);

}  // namespace tenfold::server
