// Making a context's link to a device with memory of its own, and giving outputs more room there.
#include "runtime/device/link.h"

#include "backends/backend.h"
#include "runtime/context.h"

namespace tenfold::runtime {

std::shared_ptr<DeviceLink> make_device_link(const EngineState& engine, backends::Stream& stream) {
  auto link = std::make_shared<DeviceLink>();
  link->capturer = stream.capturer();
  for (std::size_t b = 0; b < engine.bindings.size(); ++b) {
    const std::int64_t bytes = largest_bytes(engine, b);
    try {
      link->mirrors.push_back({engine.backend->memory().allocate(bytes), bytes});
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::out_of_memory) throw;
      const BindingInfo& info = engine.bindings[b];
      throw Error(e.kind(), cat(e.what(), "; it is for ", info.is_input ? "input '" : "output '", info.name,
                                "' at the largest shapes of the profiles"));
    }
  }
  return link;
}

Status grow_mirror(ContextState& c, Frame& frame, std::size_t b, std::int64_t bytes, bool& moved) noexcept {
  DynamicBuffer& mirror = c.device->mirrors[b];
  const void* const old = mirror.memory.get();
  if (bytes <= mirror.bytes || frame.bindings[b] != old) return {};
  if (!grow(c, mirror, bytes)) return {Status::out_of_memory, -1};
  frame.bindings[b] = c.device->transfers[b].used = mirror.memory.get();
  moved = true;
  return {};
}

}  // namespace tenfold::runtime
