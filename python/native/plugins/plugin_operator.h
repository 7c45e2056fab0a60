// An operator that is written in Python, as the tables of plugin_abi.h: python/tenfold/plugins has the definitions that it asks.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "native/python_state.h"
#include "tenfold/plugin.h"

namespace tenfold::python {

inline constexpr int kMaxPythonTactics = 16;  // of one operator

class PythonOperator {
 public:
  explicit PythonOperator(nb::handle definition);
  const tenfold_plugin_operator* table() const { return &table_; }
  nb::object definition() const { return nb::borrow(definition_.get()); }
  nb::object tactic(int number) const { return nb::borrow(python_tactics_[static_cast<std::size_t>(number)].get()); }

 private:
  void add_tactic(nb::handle tactic);

  Held definition_;
  std::unique_ptr<plugin_adapter::PluginAdapter> described_;  // keeps names and attributes
  tenfold_plugin_operator table_{};
  std::vector<Held> python_tactics_;
  std::array<std::string, kMaxPythonTactics> names_;
  std::array<tenfold_plugin_tactic, kMaxPythonTactics> tactics_{};
  std::vector<const tenfold_plugin_tactic*> tactic_list_;
};

// Fills in the functions of tactic `number`; plugin_tactic.cpp. `tactic` says which it has.
void set_tactic_functions(tenfold_plugin_tactic& table, int number, nb::handle tactic);
void bind_plugin_tactic(nb::module_& m);

}  // namespace tenfold::python
