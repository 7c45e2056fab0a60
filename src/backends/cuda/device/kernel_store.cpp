// Finding and compiling binaries.
#include "backends/cuda/device/kernel_store.h"

#include <algorithm>

#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/kernel_dump.h"
#include "base/threads/cpu_count.h"

namespace tenfold::backends::cuda {
namespace {

constexpr int kMaxHelpers = 16;

std::shared_ptr<const Code> as_code(Hash128 key, std::string compiler, std::string image) {
  return std::make_shared<const Code>(Code{key, std::move(compiler), std::move(image)});
}

}  // namespace

KernelStore::~KernelStore() { helpers_.reset(); }

std::shared_ptr<const Code> KernelStore::find(const std::string& source, int arch) {
  const Hash128 key = code_key(source, arch);
  dump_kernel(source, arch, key);
  {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !under_way_.contains(key); });
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
  }
  auto code = as_code(key, compiler_name(), cuda::compile(source, arch));
  std::lock_guard lock(mutex_);
  return known_.try_emplace(key, std::move(code)).first->second;
}

void KernelStore::start(const std::string& source, int arch) {
  const Hash128 key = code_key(source, arch);
  std::lock_guard lock(mutex_);
  if (known_.contains(key) || !helpers() || !under_way_.insert(key).second) return;
  count_compilation();
  helpers_->compile(source, arch, [this, key](std::string binary) {
    std::shared_ptr<const Code> code = binary.empty() ? nullptr : as_code(key, compiler_, std::move(binary));
    std::lock_guard done(mutex_);
    if (code) known_.try_emplace(key, std::move(code));
    under_way_.erase(key);
    arrived_.notify_all();
  });
}

// Under the lock. NVRTC's own absence is left to whoever needs it.
HelperPool* KernelStore::helpers() {
  if (looked_) return helpers_.get();
  looked_ = true;
  const std::string helper = find_helper();
  if (helper.empty() || !compiler_why_not().empty()) return nullptr;
  compiler_ = compiler_name();
  helpers_ = std::make_unique<HelperPool>(helper, compiler_path(), std::clamp(default_threads(), 1, kMaxHelpers));
  return helpers_.get();
}

void KernelStore::add(const CodeList& list, bool of_any_compiler) {
  const std::string here = of_any_compiler ? "" : compiler_name();
  std::lock_guard lock(mutex_);
  for (const auto& code : list)
    if (of_any_compiler || code->compiler == here) known_.try_emplace(code->key, code);
}

CodeList KernelStore::all() {
  std::lock_guard lock(mutex_);
  CodeList list;
  for (const auto& [key, code] : known_) list.push_back(code);
  return list;
}

}  // namespace tenfold::backends::cuda
