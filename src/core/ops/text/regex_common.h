// Patterns in RE2's syntax, matched by the standard library: what both have is translated, all else is refused.
//
// Neither a pattern nor a string can make a match explode. The pattern runs as an automaton that is in all of its states at once, so a
// string takes time in proportion to its length times the pattern's, and no stack that grows with the string. Both are bounded.
#pragma once

#include <regex>
#include <string>

namespace tenfold::ops {

inline constexpr std::size_t kMaxPatternBytes = 1000;
inline constexpr std::int64_t kMaxPatternCost = 1000;    // characters, classes and groups, with repeats written out
inline constexpr std::int64_t kMaxPatternDepth = 50;     // groups inside groups
inline constexpr std::int64_t kMaxMatchSteps = 1 << 24;  // of one string: its characters times the pattern's cost; some seconds

class FullMatch {
 public:
  // Throws a fault (invalid_model) for what RE2 does not have either, and unsupported for what Tenfold does not have or what is too large.
  explicit FullMatch(const std::string& pattern);
  // The longest string that it may be asked for: what kMaxMatchSteps leave for so many parts.
  std::int64_t max_bytes() const { return kMaxMatchSteps / cost_; }
  // Does the whole string match? One that is no UTF-8 matches nothing, as in RE2.
  bool operator()(const std::string& text) const;

 private:
  std::wregex regex_;   // of code points, so that `.` and classes take characters and not bytes
  std::int64_t cost_ = 0;
};

}  // namespace tenfold::ops
