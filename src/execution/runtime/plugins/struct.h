// What a plug-in hands over, checked: structs of another size, texts, results of calls.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "ir/attributes.h"
#include "tenfold/plugin_abi.h"

namespace tenfold::runtime {

// A struct as this version knows it: zero where the plug-in's is shorter, without what it has beyond. `min` bytes it
// must have.
template <class T>
T take_struct(const T* given, std::size_t min, const std::string& what) {
  require(given != nullptr, ErrorKind::invalid_argument, what, " is null");
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  constexpr std::size_t kMax = 1 << 16;
  require(size >= min && size <= kMax, ErrorKind::invalid_argument, what, " says that it has ", size,
          " bytes; this version of Tenfold expects ", sizeof(T), " (", min,
          " are the least): set `size` to sizeof the struct");
  T taken{};
  std::memcpy(static_cast<void*>(&taken), given, std::min(size, sizeof(T)));
  return taken;
}
// Bytes up to and with a field.
#define TENFOLD_BYTES_WITH(Type, field) (offsetof(Type, field) + sizeof(Type::field))

// A tactic's table, as it was given, and its names.
struct PluginTacticTable {
  tenfold_plugin_tactic table{};
  std::string name, device;
};

// An operator's table and all that hangs on it. OpDef::self of a plug-in's operator; the last one that uses it releases
// it.
struct PluginTable {
  PluginTable() = default;
  PluginTable(const PluginTable&) = delete;
  ~PluginTable() {
    if (table.release) table.release(table.self);
  }
  tenfold_plugin_operator table{};
  std::string name;                           // "com.example.Snake"
  std::string library;                        // the file that it came from; empty: the caller gave it
  std::shared_ptr<const void> keeps_library;  // outlives `table`: release() is in it
  std::vector<PluginTacticTable> tactics;
  std::vector<std::string> attribute_names;   // in the table's order, in which calls get them
  const ir::Registry* registry = nullptr;        // with all plug-ins of its set
  mutable std::atomic<bool> finds_sizes{false};  // a node of it had sizes that only the run knows
};

// Room for what a plug-in says of a failure.
struct PluginWhy {
  char text[512] = "";
  bool empty() const { return text[0] == '\0'; }
  const char* message() { return text[sizeof text - 1] = '\0', text; }   // a plug-in may have forgotten the end
};
// Throws what a call said that did not give 0: "plug-in 'com.example.Snake' of libsnake.so: alpha is zero".
void expect_done(std::int32_t code, const PluginTable& plugin, const char* call, const char* why);
std::string plugin_text(const PluginTable& plugin);  // "plug-in 'com.example.Snake' of libsnake.so"

// Checks a table and takes it over; throws invalid_argument saying which field is wrong. Then release() is called, too.
std::shared_ptr<PluginTable> take_operator(const tenfold_plugin_operator* given, const std::string& library,
                                           std::shared_ptr<const void> keeps_library);
ir::Attributes take_attributes(const tenfold_plugin_attribute* list, std::int32_t count, const std::string& of);

}  // namespace tenfold::runtime
