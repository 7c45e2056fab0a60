// See fake_copies.h.
#include "fake_copies.h"

#include <cstring>

#include "fake_driver.h"
#include "fake_pools.h"

namespace tenfold::tests {
namespace {

using namespace backends::cuda;

FakeDriver& fake() { return FakeDriver::the(); }

void finish(FakeDriver::LateCopies& late, std::size_t end) {
  for (; late.done < end; ++late.done) {
    const auto& [to, from, bytes] = late.asked[late.done];
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  }
}

int register_host(void* memory, std::size_t bytes, unsigned) {
  if (const int failed = answer() ? answer() : one_failure("cuMemHostRegister")) return failed;
  for (const auto& [at, size] : fake().registered)
    if (static_cast<char*>(memory) < static_cast<char*>(at) + size && static_cast<char*>(at) < static_cast<char*>(memory) + bytes)
      return kRegisteredAlready;
  fake().registered[memory] = bytes;
  return kSuccess;
}

}  // namespace

int one_failure(const char* call) {
  FakeDriver::OneFailure& f = fake().one_failure;
  if (f.call != call || f.behind-- > 0) return kSuccess;
  f.call.clear();
  return f.result;
}

void copy_late(DevicePointer to, DevicePointer from, std::size_t bytes, const void* stream) {
  fake().late[stream].asked.push_back({to, from, bytes});
}
void note_copies(const void* event, const void* stream) { fake().behind[event] = {stream, fake().late[stream].asked.size()}; }
void finish_copies_before(const void* event) {
  const auto it = fake().behind.find(event);
  if (it != fake().behind.end()) finish(fake().late[it->second.first], it->second.second);
}
void finish_copies(const void* stream) {
  FakeDriver::LateCopies& late = fake().late[stream];
  finish(late, late.asked.size());
}

bool is_registered(const void* p) {
  const auto* at = static_cast<const char*>(p);
  for (const auto& [memory, bytes] : fake().registered)
    if (at >= static_cast<const char*>(memory) && at < static_cast<const char*>(memory) + bytes) return true;
  return false;
}
void add_registered(Driver& table) {
  table.register_host = register_host;
  table.unregister_host = [](void* memory) { return fake().registered.erase(memory) == 1 ? answer() : 713; };
}

}  // namespace tenfold::tests
