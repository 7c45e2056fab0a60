// test.Scale: x times `factor`, as a table of C functions that count what is asked of them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>

#include "tenfold/plugin.h"

namespace tenfold::tests {

class TablePlugin {
 public:
  TablePlugin() = default;
  TablePlugin(const TablePlugin&) = delete;
  // Plug-ins that outlive their table write to what it was when they let go of it.
  ~TablePlugin() { EXPECT_EQ(released, added_) << "who has the plug-ins outlives this table"; }
  // What the table offers; set before add().
  const char* device = "cpu";
  std::string workspace;  // empty: none
  std::vector<std::vector<std::int64_t>> configs;
  bool channels_last = false, in_place = false;
  std::int32_t flags = 0;
  // What happened.
  std::atomic<int> open{0}, closed{0}, runs{0}, released{0};
  std::set<void*> states_that_ran;
  void *last_workspace = nullptr, *last_stream = nullptr;
  std::vector<void*> last_data;  // operand and result of the last run
  bool saw_channels_last = false;
  std::string fails_with;
  bool computes = true;  // false: run() only looks, as where memory is not the host's

  std::shared_ptr<Plugins> add() {
    // Calls get them in this order, which is not that of their names.
    attributes_[0] = {"factor", TENFOLD_PLUGIN_FLOAT, 1, nullptr, &one_, nullptr, nullptr, {}};
    attributes_[1] = {"bias", TENFOLD_PLUGIN_INT, 1, &nothing_, nullptr, nullptr, nullptr, {}};
    tactic_.size = sizeof tactic_, tactic_.name = "table", tactic_.device = device, tactic_.flags = flags;
    tactic_.open = open_state, tactic_.close = close_state, tactic_.run = run;
    if (!workspace.empty()) tactic_.workspace = workspace_of;
    if (!configs.empty()) tactic_.configs = config_of;
    if (channels_last) tactic_.layouts = layouts;
    if (in_place) tactic_.in_place = [](void*, tenfold_plugin_problem*, std::int32_t, std::int32_t) { return 1; };
    table_.size = sizeof table_, table_.domain = "test", table_.name = "Scale", table_.self = this;
    table_.min_inputs = table_.max_inputs = table_.min_outputs = table_.max_outputs = 1;
    table_.attributes = attributes_, table_.attribute_count = 2;
    table_.tactics = tactics_, table_.tactic_count = 1;
    table_.release = [](void* self) { ++of(self).released; };
    table_.infer = [](void*, tenfold_plugin_infer* call) {
      return call->set_output(call, 0, call->in[0].dtype, call->in[0].rank, call->in[0].dims);
    };
    table_.compute = [](void*, tenfold_plugin_run* call) { return scale(call->attributes[0].floats[0], call), 0; };
    auto plugins = std::make_shared<Plugins>();
    plugins->add(&table_);
    ++added_;
    return plugins;
  }

 private:
  static TablePlugin& of(void* self) { return *static_cast<TablePlugin*>(self); }
  // Both have the same order in memory.
  static void scale(float factor, const tenfold_plugin_run* call) {
    std::int64_t n = 1;
    for (std::int32_t d = 0; d < call->in[0].rank; ++d) n *= call->in[0].shape[d];
    for (std::int64_t i = 0; i < n; ++i)
      static_cast<float*>(call->out[0].data)[i] = factor * static_cast<const float*>(call->in[0].data)[i];
  }
  static std::int32_t open_state(void* self, tenfold_plugin_problem* p, void** state) {
    ++of(self).open;
    *state = new float(p->attributes[0].floats[0]);
    return 0;
  }
  static void close_state(void* self, void* state) {
    ++of(self).closed;
    delete static_cast<float*>(state);
  }
  static std::int32_t run(void* self, void* state, tenfold_plugin_run* call) {
    TablePlugin& t = of(self);
    ++t.runs, t.states_that_ran.insert(state);
    t.last_workspace = call->workspace, t.last_stream = call->stream,
    t.last_data = {call->in[0].data, call->out[0].data};
    const tenfold_plugin_tensor& x = call->in[0];
    t.saw_channels_last |= x.rank > 2 && x.shape[1] > 1 && x.strides[1] == 1;
    if (!t.fails_with.empty()) return std::snprintf(call->why, call->why_bytes, "%s", t.fails_with.c_str()), 9;
    if (call->workspace && t.computes && !t.workspace.empty())
      std::memset(call->workspace, 7, static_cast<std::size_t>(x.shape[0]) * 3 * 4);
    if (t.computes) scale(*static_cast<const float*>(state), call);
    return 0;
  }
  static std::int32_t workspace_of(void* self, tenfold_plugin_problem* p, char* text, std::size_t room) {
    std::snprintf(text, room, "%lld*%s", 4ll * 3, p->in[0].dims[0]);
    return of(self).workspace.empty();
  }
  static std::int32_t config_of(void* self, tenfold_plugin_problem*, std::int32_t which, std::int64_t* numbers,
                                std::int32_t) {
    const auto& all = of(self).configs;
    if (which >= static_cast<std::int32_t>(all.size())) return -1;
    std::copy(all[static_cast<std::size_t>(which)].begin(), all[static_cast<std::size_t>(which)].end(), numbers);
    return static_cast<std::int32_t>(all[static_cast<std::size_t>(which)].size());
  }
  static std::int32_t layouts(void*, tenfold_plugin_problem* p, std::int32_t which, std::int32_t* in,
                              std::int32_t* out) {
    if (which > 0 && (which > 1 || p->in[0].rank < 3)) return 0;
    in[0] = out[0] = which == 0 ? TENFOLD_LAYOUT_PLAIN : TENFOLD_LAYOUT_CHANNELS_LAST;
    return 1;
  }

  static constexpr float one_ = 1;
  static constexpr std::int64_t nothing_ = 0;
  tenfold_plugin_attribute attributes_[2] = {};
  int added_ = 0;
  tenfold_plugin_tactic tactic_{};
  const tenfold_plugin_tactic* tactics_[1] = {&tactic_};
  tenfold_plugin_operator table_{};
};

}  // namespace tenfold::tests
