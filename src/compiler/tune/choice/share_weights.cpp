// From graphs and their choices to the problem of form_sharing.h, and its solution back.
#include "tune/choice/share_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/files/hash.h"
#include "tune/choice/form_sharing.h"
#include "tune/choice/node_problem.h"
#include "tune/choice/packed_forms.h"
#include "tune/timing/timer.h"

namespace tenfold::tune {
namespace {

// A node, or a result of the graph, that reads large constants.
struct Reader {
  std::size_t profile = 0;
  const ir::Node* node = nullptr;        // null: a result
  std::vector<int> weights;
  std::vector<Candidate> options;        // the fastest one first, of each set of forms one
  std::vector<std::vector<int>> forms;   // of each option, those of its weights
};

std::int64_t sum(const std::set<int>& of, const std::vector<std::int64_t>& bytes) {
  std::int64_t all = 0;
  for (const int i : of) all += bytes[static_cast<std::size_t>(i)];
  return all;
}

class Sharing {
 public:
  Sharing(std::span<const ProfileChoice> profiles, backends::Backend& backend)
      : profiles_(profiles), backend_(backend), packed_(backend.info()) {
    for (std::size_t p = 0; p < profiles.size(); ++p) {
      add_readers(*profiles[p].graph, p);
      add_weights(*profiles[p].before, whole_.emplace_back());
    }
  }
  std::int64_t alone() const;
  std::int64_t together() const;
  std::int64_t unread() const;
  void add_options();
  void add_options_of_others();
  void time_again();
  void solve(std::int64_t limit);
  void apply(WeightBytes& bytes) const;

 private:
  void add_weights(const ir::Graph& graph, std::set<int>& weights);
  void add_readers(const ir::Graph& graph, std::size_t profile);
  Reader reader_of(std::size_t profile, const ir::Node* node, const std::vector<const ir::Value*>& constants);
  int weight(const ir::Constant& constant);
  std::vector<int> forms_of(const Reader& reader, const NodeChoice& choice);
  void add_option(Reader& reader, const Candidate& candidate);
  std::optional<Candidate> timed_like(const Reader& reader, const backends::Tactic& tactic, const backends::Config& config,
                                      const std::vector<int>& forms);
  ChoiceTimer& timer_of(std::size_t profile);
  std::vector<int> group_of_weights() const;

  std::span<const ProfileChoice> profiles_;
  backends::Backend& backend_;
  PackedForms packed_;
  std::vector<Reader> readers_;
  std::vector<std::set<int>> whole_;                  // by profile: weights of the graph before it was cut
  std::map<const ir::Constant*, int> weights_;
  std::map<std::string, int> by_content_;
  std::vector<std::int64_t> weight_bytes_;            // as they are before packing
  std::map<std::pair<int, std::string>, int> form_index_;
  std::vector<std::int64_t> form_bytes_;
  std::vector<std::unique_ptr<ChoiceTimer>> timers_;   // by profile, when they are needed
  std::vector<int> solution_;                         // the option of each reader; empty: the first
};

// Equal ones are one: parts of a weight that two profiles cut alike, for example.
int Sharing::weight(const ir::Constant& constant) {
  const auto [at, fresh] = weights_.try_emplace(&constant, 0);
  if (!fresh) return at->second;
  const Tensor& t = constant.tensor;
  const Hash128 hash = hash128({static_cast<const std::byte*>(t.raw()), static_cast<std::size_t>(t.bytes())});
  const std::string key = cat(name(t.dtype()), text(t.shape()), " ", hash.high, " ", hash.low);
  const auto [same, added] = by_content_.try_emplace(key, static_cast<int>(weight_bytes_.size()));
  if (added) weight_bytes_.push_back(t.bytes());
  return at->second = same->second;
}

std::vector<int> Sharing::forms_of(const Reader& reader, const NodeChoice& choice) {
  std::vector<PackedForm> forms;
  if (reader.node) forms = packed_.of(*reader.node, choice, *profiles_[reader.profile].options);
  else for (const int w : reader.weights) forms.push_back({"plain", weight_bytes_[static_cast<std::size_t>(w)]});
  std::vector<int> indices;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const auto [at, fresh] = form_index_.try_emplace({reader.weights[i], forms[i].key}, static_cast<int>(form_bytes_.size()));
    if (fresh) form_bytes_.push_back(forms[i].bytes);
    indices.push_back(at->second);
  }
  return indices;
}

// Of each set of forms the fastest is kept.
void Sharing::add_option(Reader& reader, const Candidate& candidate) {
  std::vector<int> forms = forms_of(reader, candidate.choice);
  const auto known = std::find(reader.forms.begin(), reader.forms.end(), forms);
  if (known == reader.forms.end()) {
    reader.options.push_back(candidate), reader.forms.push_back(std::move(forms));
    return;
  }
  Candidate& other = reader.options[static_cast<std::size_t>(known - reader.forms.begin())];
  if (known != reader.forms.begin() && candidate.nanoseconds < other.nanoseconds) other = candidate;   // the first stays as it was chosen
}

Reader Sharing::reader_of(std::size_t profile, const ir::Node* node, const std::vector<const ir::Value*>& constants) {
  Reader reader{.profile = profile, .node = node, .weights = {}, .options = {}, .forms = {}};
  for (const ir::Value* v : constants) reader.weights.push_back(weight(*v->constant));
  Candidate first;
  const Chosen& chosen = *profiles_[profile].chosen;
  if (const auto at = node ? chosen.choice.find(node) : chosen.choice.end(); at != chosen.choice.end()) first.choice = at->second;
  if (const auto timed = chosen.timed.find(node); timed != chosen.timed.end())
    for (const Candidate& c : timed->second)
      if (c.choice.tactic == first.choice.tactic && c.choice.config == first.choice.config) first.nanoseconds = c.nanoseconds;
  add_option(reader, first);
  return reader;
}

void Sharing::add_readers(const ir::Graph& graph, std::size_t profile) {
  for (const auto& node : graph.nodes()) {
    for (const auto& body : node->graphs) add_readers(*body, profile);
    if (auto constants = PackedForms::constants_of(*node); !constants.empty())
      readers_.push_back(reader_of(profile, node.get(), constants));
  }
  for (const ir::Value* v : graph.outputs)
    if (is_large(v)) readers_.push_back(reader_of(profile, nullptr, {v}));
}

void Sharing::add_weights(const ir::Graph& graph, std::set<int>& weights) {
  for (const auto& node : graph.nodes()) {
    for (const ir::Value* v : PackedForms::constants_of(*node)) weights.insert(weight(*v->constant));
    for (const auto& body : node->graphs) add_weights(*body, weights);
  }
}

std::int64_t Sharing::alone() const {
  std::int64_t most = 0;
  for (std::size_t p = 0; p < profiles_.size(); ++p) {
    std::set<int> forms;
    for (const Reader& r : readers_)
      if (r.profile == p) forms.insert(r.forms[0].begin(), r.forms[0].end());
    most = std::max({most, sum(whole_[p], weight_bytes_), sum(forms, form_bytes_)});
  }
  return most;
}

// A merged weight whose parts alone are read is kept as it is, for the graph that a plan is tuned again by.
std::int64_t Sharing::unread() const {
  std::set<int> kept;
  for (std::size_t p = 0; p < profiles_.size(); ++p)
    if (profiles_[p].options->config->keep_portable_graph) kept.insert(whole_[p].begin(), whole_[p].end());
  for (const Reader& r : readers_)
    for (const int w : r.weights) kept.erase(w);
  return sum(kept, weight_bytes_);
}

std::int64_t Sharing::together() const {
  std::set<int> used;
  for (std::size_t r = 0; r < readers_.size(); ++r) {
    const std::vector<int>& forms = readers_[r].forms[solution_.empty() ? 0 : static_cast<std::size_t>(solution_[r])];
    used.insert(forms.begin(), forms.end());
  }
  return unread() + sum(used, form_bytes_);
}

// What was timed on the way.
void Sharing::add_options() {
  for (Reader& reader : readers_) {
    const Chosen& chosen = *profiles_[reader.profile].chosen;
    if (const auto timed = chosen.timed.find(reader.node); timed != chosen.timed.end())
      for (const Candidate& c : timed->second) add_option(reader, c);
  }
}

ChoiceTimer& Sharing::timer_of(std::size_t profile) {
  timers_.resize(profiles_.size());
  const ProfileChoice& of = profiles_[profile];
  if (!timers_[profile]) timers_[profile] = std::make_unique<ChoiceTimer>(*of.before, backend_, *of.options);
  return *timers_[profile];
}

// That tactic for this reader, in a configuration that packs weights like the other's.
std::optional<Candidate> Sharing::timed_like(const Reader& reader, const backends::Tactic& tactic, const backends::Config& config,
                                             const std::vector<int>& forms) {
  constexpr int kMaxTimed = 2;   // the tactic's best guesses
  const ProfileChoice& profile = profiles_[reader.profile];
  NodeChoice choice{&tactic, {}, reader.options[0].choice.formats};
  const backends::Problem problem = node_problem(*reader.node, &choice.formats, profile.options->box, backend_.info(),
                                                 profile.options->config->workspace_bytes);
  if (!tactic.supports(problem) || (tactic.rounds_f32 && !problem.numerics.allows(ir::Rounding::tf32))) return std::nullopt;
  std::vector<backends::Config> configs = tactic.configs(problem);
  const bool valid = tactic.valid ? tactic.valid(problem, config).yes : config.size() == configs.at(0).size();
  if (valid && std::find(configs.begin(), configs.end(), config) == configs.end()) configs.push_back(config);
  std::optional<Candidate> best;
  int left = kMaxTimed;
  for (const backends::Config& one : configs) {
    choice.config = one;
    if (left == 0 || forms_of(reader, choice) != forms) continue;
    --left;
    const double ns = timer_of(reader.profile).nanoseconds(*reader.node, choice);
    if (ns < kCannotRun && (!best || ns < static_cast<double>(best->nanoseconds))) best = {choice, static_cast<std::int64_t>(ns)};
  }
  return best;
}

// Forms that other profiles read a weight in, and that were not timed here: too slow at a glance, or not among the best guesses.
void Sharing::add_options_of_others() {
  std::map<std::vector<int>, std::map<std::vector<int>, NodeChoice>> by_weights;   // an example of each set of forms
  for (const Reader& r : readers_)
    for (std::size_t i = 0; i < r.options.size(); ++i)
      if (r.options[i].choice.tactic) by_weights[r.weights].try_emplace(r.forms[i], r.options[i].choice);
  for (Reader& r : readers_) {
    if (r.options.size() < 2 || !r.options[0].choice.tactic) continue;   // a callback chose, or nothing else runs it
    for (const auto& [forms, example] : by_weights[r.weights]) {
      if (std::find(r.forms.begin(), r.forms.end(), forms) != r.forms.end() || !example.tactic->computes(*r.node->def)) continue;
      if (const auto found = timed_like(r, *example.tactic, example.config, forms)) add_option(r, *found);
    }
  }
}

// What is compared takes the lesser of two times each, as one outlier would cost all profiles.
void Sharing::time_again() {
  for (Reader& r : readers_) {
    if (r.options.size() < 2) continue;
    for (Candidate& c : r.options)
      if (c.choice.tactic)
        c.nanoseconds = std::min(c.nanoseconds, static_cast<std::int64_t>(timer_of(r.profile).again(*r.node, c.choice)));
  }
}

// Weights that one reader needs together are in one group.
std::vector<int> Sharing::group_of_weights() const {
  std::vector<int> group(weight_bytes_.size());
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&](int w) {
    while (group[static_cast<std::size_t>(w)] != w) w = group[static_cast<std::size_t>(w)];
    return w;
  };
  for (const Reader& r : readers_)
    for (const int w : r.weights) group[static_cast<std::size_t>(root(w))] = root(r.weights[0]);
  for (int& g : group) g = root(g);
  return group;
}

// Costs are parts of a profile's time: a text alone is worth as much as a batch that takes a hundred times as long.
void Sharing::solve(std::int64_t limit) {
  const std::vector<int> group_of = group_of_weights();
  std::vector<sharing::Group> groups(weight_bytes_.size());
  std::vector<std::map<int, int>> forms(weight_bytes_.size());   // of the group, by form
  std::vector<std::pair<std::size_t, std::size_t>> place;        // of each reader
  for (const Reader& r : readers_) {
    const auto g = static_cast<std::size_t>(group_of[static_cast<std::size_t>(r.weights[0])]);
    const double whole = std::max<double>(1, static_cast<double>(profiles_[r.profile].chosen->nanoseconds));
    std::vector<sharing::Option> options;
    for (std::size_t i = 0; i < r.options.size(); ++i) {
      sharing::Option& option = options.emplace_back();
      option.cost = static_cast<double>(r.options[i].nanoseconds) / whole;
      for (const int form : r.forms[i]) {
        const auto [at, fresh] = forms[g].try_emplace(form, static_cast<int>(groups[g].bytes.size()));
        if (fresh) groups[g].bytes.push_back(form_bytes_[static_cast<std::size_t>(form)]);
        option.forms.push_back(at->second);
      }
    }
    place.emplace_back(g, groups[g].readers.size());
    groups[g].readers.push_back(std::move(options));
  }
  const std::vector<std::vector<int>> options = sharing::solve(groups, limit);
  for (const auto& [g, reader] : place) solution_.push_back(options[g][reader]);
}

void Sharing::apply(WeightBytes& bytes) const {
  for (std::size_t r = 0; r < readers_.size(); ++r) {
    const Reader& reader = readers_[r];
    const auto option = static_cast<std::size_t>(solution_[r]);
    if (option == 0) continue;
    bytes.changed.push_back({reader.profile, reader.node, reader.options[0], reader.options[option]});
    profiles_[reader.profile].chosen->choice[reader.node] = reader.options[option].choice;
    profiles_[reader.profile].chosen->nanoseconds += reader.options[option].nanoseconds - reader.options[0].nanoseconds;
  }
}

}  // namespace

WeightBytes share_weights(std::span<const ProfileChoice> profiles, backends::Backend& backend, double ratio) {
  Sharing sharing(profiles, backend);
  WeightBytes bytes;
  bytes.alone = sharing.alone();
  bytes.fastest = bytes.held = sharing.together();
  const auto limit = static_cast<std::int64_t>(ratio * static_cast<double>(bytes.alone));
  if (ratio <= 0 || bytes.fastest <= limit) return bytes;
  sharing.add_options();
  sharing.add_options_of_others();
  sharing.time_again();
  sharing.solve(limit - sharing.unread());
  bytes.held = sharing.together();
  sharing.apply(bytes);
  return bytes;
}

}  // namespace tenfold::tune
