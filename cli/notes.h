// What an engine has to tell, for people and for programs. The log has told it already.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tenfold/notes.h"

namespace tenfold::cli {

nlohmann::ordered_json notes_json(const std::vector<Note>& notes);   // [{"severity", "kind", "step", "text"}]
void print_notes(const std::vector<Note>& notes);                    // a paragraph on stdout; nothing if there are none

}  // namespace tenfold::cli
