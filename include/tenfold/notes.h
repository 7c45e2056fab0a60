// Notes of a build or a load about its result, as data: requests that could not be met, and what will be slow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tenfold/export.h"
#include "tenfold/log.h"

namespace tenfold {

enum class NoteKind : std::uint8_t {
  message,           // a warning of the build, about the model or a cache
  reference_kernel,  // a step runs on its operator's reference kernel, which is plain and slow
  precision,         // a precision that was permitted could not be had
  rebuilt,           // the plan was made for another version or device and was built again
  clocks,            // the machine runs more than a tenth faster or slower than when the plan was timed
};
TENFOLD_API std::string_view name(NoteKind kind);   // "reference_kernel"

struct Note {
  Severity severity = Severity::info;
  NoteKind kind = NoteKind::message;
  std::string step;                     // the step or node that the note is about; empty: the whole plan
  std::string text;                     // one sentence or more, for people
  bool operator==(const Note&) const = default;
};

}  // namespace tenfold
