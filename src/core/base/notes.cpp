// Names of kinds of notes.
#include "tenfold/notes.h"

namespace tenfold {

std::string_view name(NoteKind kind) {
  switch (kind) {
    case NoteKind::message: return "message";
    case NoteKind::reference_kernel: return "reference_kernel";
    case NoteKind::precision: return "precision";
    case NoteKind::rebuilt: return "rebuilt";
    case NoteKind::clocks: return "clocks";
  }
  return "unknown";
}

}  // namespace tenfold
