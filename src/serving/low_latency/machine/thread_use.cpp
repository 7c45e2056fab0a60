// Read from /proc, so that a thread need not ask about itself.
#include "low_latency/machine/thread_use.h"

#include <fstream>
#include <sstream>
#include <string>

namespace tenfold::low_latency {

ThreadUse use_of_thread(int id) {
  const std::string folder = "/proc/self/task/" + std::to_string(id);
  ThreadUse use;
  std::string text, word;
  if (std::ifstream stat(folder + "/stat"); std::getline(stat, text)) {
    std::istringstream rest(text.substr(std::min(text.rfind(')') + 1, text.size())));   // the name may hold blanks
    std::int64_t minor = -1, major = -1, other = 0;
    for (int i = 0; i < 7; ++i) rest >> word;                 // state to flags
    if (rest >> minor >> other >> major) use.page_faults = minor + major, use.known = true;
  }
  bool switches = false;
  for (std::ifstream status(folder + "/status"); std::getline(status, text);)
    if (text.rfind("nonvoluntary_ctxt_switches:", 0) == 0) use.forced_switches = std::stoll(text.substr(27)), switches = true;
  use.known &= switches;
  return use;
}

}  // namespace tenfold::low_latency
