// Pools that keep what is freed, by size.
#include "fake_pools.h"

#include <cstdlib>

#include "fake_driver.h"

namespace tenfold::tests {
namespace {

using namespace backends::cuda;
using FakePool = FakeDriver::FakePool;

FakePool& pool_at(Pool pool) { return FakeDriver::the().pools[pool]; }

int create(Pool* pool, const PoolProperties* properties) {
  if (properties->kind != 1 || properties->place != 1 || properties->ordinal != current_gpu()) return 1;
  *pool = static_cast<Pool>(std::malloc(1));
  FakeDriver::the().pools[*pool];
  return kSuccess;
}
int trim(Pool pool, std::size_t kept) {
  FakePool& p = pool_at(pool);
  while (p.reserved > kept && !p.free.empty()) {
    const auto it = p.free.begin();
    p.reserved -= it->first;
    end_memory(it->second);
    p.free.erase(it);
  }
  return kSuccess;
}
int destroy(Pool pool) {
  trim(pool, 0);
  FakeDriver::the().pools.erase(pool);
  return std::free(pool), kSuccess;
}
int set(Pool pool, int attribute, void* value) {
  if (attribute != kPoolKeeps) return 1;
  pool_at(pool).keeps = *static_cast<std::uint64_t*>(value);
  return kSuccess;
}
int get(Pool pool, int attribute, void* value) {
  if (attribute != kPoolReserved) return 1;
  *static_cast<std::uint64_t*>(value) = pool_at(pool).reserved;
  return kSuccess;
}
int allocate(DevicePointer* pointer, std::size_t bytes, Pool pool, StreamHandle) {
  FakeDriver& fake = FakeDriver::the();
  if (const int failed = answer()) return failed;
  FakePool& p = pool_at(pool);
  void* memory = nullptr;
  if (const auto it = p.free.find(bytes); it != p.free.end()) {
    memory = it->second, p.free.erase(it);
  } else {
    if (const int result = take_memory(&memory, bytes)) return result;
    p.reserved += bytes;
  }
  fake.pool_of[memory] = pool;
  *pointer = reinterpret_cast<DevicePointer>(memory);
  return kSuccess;
}
int release(DevicePointer pointer, StreamHandle) {
  FakeDriver& fake = FakeDriver::the();
  void* memory = reinterpret_cast<void*>(pointer);
  const auto it = fake.pool_of.find(memory);
  if (it == fake.pool_of.end()) return 1;
  const Pool pool = static_cast<Pool>(const_cast<void*>(it->second));
  fake.pool_of.erase(it);
  pool_at(pool).free.emplace(fake.on_device[memory], memory);
  return trim(pool, pool_at(pool).keeps);
}

}  // namespace

void add_pools(Driver& table) {
  table.pool_create = create, table.pool_destroy = destroy, table.pool_set = set, table.pool_get = get, table.pool_trim = trim;
  table.pool_allocate = allocate, table.pool_release = release;
}

int take_memory(void** memory, std::size_t bytes) {
  FakeDriver& fake = FakeDriver::the();
  if (fake.taken + bytes > fake.memory) return kOutOfMemory;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  fake.taken += bytes, fake.on_device[*memory] = bytes;
  return kSuccess;
}
void end_memory(void* memory) {
  FakeDriver& fake = FakeDriver::the();
  fake.taken -= fake.on_device[memory], fake.on_device.erase(memory);
  std::free(memory);
}

}  // namespace tenfold::tests
