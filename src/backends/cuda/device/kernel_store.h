// Binaries of kernel sources: those that plans and caches brought, and those that were compiled here.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "backends/code.h"
#include "backends/cuda/device/helpers.h"

namespace tenfold::backends::cuda {

class KernelStore {
 public:
  ~KernelStore();
  // The binary of a source, compiled if it is not known; waits for a helper that is at it already. Throws as compile() does.
  std::shared_ptr<const Code> find(const std::string& source, int arch);
  // Lets a helper compile it, if there is one and the binary is not known.
  void start(const std::string& source, int arch);
  void add(const CodeList& list, bool of_any_compiler);   // what is known already stays
  CodeList all();

 private:
  HelperPool* helpers();
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<Hash128, std::shared_ptr<const Code>> known_;
  std::set<Hash128> under_way_;
  bool looked_ = false;
  std::string compiler_;   // that the helpers use
  std::unique_ptr<HelperPool> helpers_;
};

}  // namespace tenfold::backends::cuda
