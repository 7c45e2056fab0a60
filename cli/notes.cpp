// Notes as JSON and as text.
#include "notes.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "console.h"

namespace tenfold::cli {
namespace {

const char* name_of(Severity severity) {
  static constexpr const char* kNames[] = {"verbose", "info", "warning", "error"};
  return kNames[static_cast<int>(severity)];
}

}  // namespace

nlohmann::ordered_json notes_json(const std::vector<Note>& notes) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Note& n : notes)
    all.push_back({{"severity", name_of(n.severity)}, {"kind", std::string(name(n.kind))}, {"step", n.step}, {"text", n.text}});
  return all;
}

void print_notes(const std::vector<Note>& notes) {
  if (!notes.empty()) std::printf("Notes\n");
  for (const Note& n : notes) std::printf("  %s: %s\n", name_of(n.severity), printable(n.text).c_str());
  if (!notes.empty()) std::printf("\n");
}

}  // namespace tenfold::cli
