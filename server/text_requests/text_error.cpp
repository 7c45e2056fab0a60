#include "text_requests/text_error.h"

namespace tenfold::server {
namespace {

Code code_of(TextFault fault) {
  switch (fault) {
    case TextFault::unknown_model: return Code::not_found;
    case TextFault::unsupported: return Code::unsupported;
    case TextFault::overloaded:
    case TextFault::unavailable: return Code::unavailable;
    case TextFault::backend: return Code::internal;
    case TextFault::cancelled: return Code::cancelled;
    default: return Code::invalid_argument;
  }
}

}  // namespace

TextError::TextError(TextFault fault, const std::string& message, const std::string& field)
    : RequestError(code_of(fault), message), fault(fault), field(field) {}

TextError as_text_error(const RequestError& error) {
  if (const auto* text = dynamic_cast<const TextError*>(&error)) return *text;
  switch (error.code) {
    case Code::not_found: return {TextFault::unknown_model, error.what(), "model"};
    case Code::unsupported: return {TextFault::unsupported, error.what()};
    case Code::unavailable: return {TextFault::unavailable, error.what()};
    case Code::cancelled: return {TextFault::cancelled, error.what()};
    case Code::invalid_argument: return {TextFault::field, error.what()};
    default: return {TextFault::backend, error.what()};
  }
}

TextError as_text_error(const RequestOutcome& outcome) {
  const std::string what = outcome.error->what();
  switch (outcome.ended_by) {
    case EndedBy::full_queue: return {TextFault::overloaded, "the model is overloaded: its queue is full"};
    case EndedBy::timeout: return {TextFault::unavailable, what};
    case EndedBy::stop: return {TextFault::unavailable, "the server is stopping"};
    case EndedBy::cancel: return {TextFault::cancelled, what};
    default: break;
  }
  switch (outcome.error->kind()) {
    case ErrorKind::cancelled: return {TextFault::cancelled, what};
    case ErrorKind::out_of_memory: return {TextFault::unavailable, what};
    case ErrorKind::invalid_argument: return {TextFault::tokenizer, what};
    default: return {TextFault::backend, what};
  }
}

std::string_view name(TextFault fault) {
  switch (fault) {
    case TextFault::syntax:
    case TextFault::field:
    case TextFault::too_many:
    case TextFault::unknown_model:
    case TextFault::unsupported: return "validation";
    case TextFault::empty: return "empty";
    case TextFault::tokenizer: return "tokenizer";
    case TextFault::overloaded: return "overloaded";
    case TextFault::unavailable:
    case TextFault::cancelled: return "unhealthy";
    default: return "backend";
  }
}

}  // namespace tenfold::server
