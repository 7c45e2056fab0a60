// Which packed form of each weight its readers take, so that all forms fit into a limit and the readers lose least: as a problem without
// graphs of operators.
#pragma once

#include <cstdint>
#include <vector>

namespace tenfold::tune::sharing {

// One way for a reader to read: what it costs, and the forms that it needs, one for each constant of its group.
struct Option {
  double cost = 0;
  std::vector<int> forms;
};
// Constants that the same readers need together; most often one.
struct Group {
  std::vector<std::int64_t> bytes;             // of each form
  std::vector<std::vector<Option>> readers;    // each has at least one option
};

// The option of each reader, by group. Without a limit each reader has its cheapest; then forms are given up, those first whose bytes
// cost least, until the rest fits, or nothing more can be saved. Of each group the results lie on the lower convex hull of bytes and
// costs, over all sets of up to ten forms, of more over sets of three. Ties go to the lower number.
std::vector<std::vector<int>> solve(const std::vector<Group>& groups, std::int64_t limit);

// Of the forms that these options need, each once.
std::int64_t bytes_of(const Group& group, const std::vector<int>& options);

}  // namespace tenfold::tune::sharing
