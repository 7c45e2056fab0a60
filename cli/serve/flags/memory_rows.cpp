// The rows of `tenfold serve`'s flags that are about the cache of responses and clients' shared memory.
#include "flags/specs.h"
#include "serve/flags/rows.h"

namespace tenfold::cli {
namespace {

std::int64_t cache_bytes(const std::string& text) {
  const std::string kind = "local,size=";
  if (!text.starts_with(kind))
    throw UsageError("--cache-config takes local,size=BYTES, not '" + text + "': this server has no other cache of responses");
  return parse_int("cache-config", text.substr(kind.size()), 1);
}

}  // namespace

void add_memory_rows(Flags& flags, MemoryFlags& options) {
  flags.group("Memory");
  flags.add({"cache-config", "local,size=BYTES",
             "so many bytes of responses are kept for equal requests, to models with response_cache and to the one named here",
             [&options](const std::string& text) { options.cache_bytes = cache_bytes(text); }});
  add_bool(flags, "allow-client-shm", options.client_shm,
           "whether clients may have tensors in shared memory of this machine, which the server then opens by name (false)");
}

}  // namespace tenfold::cli
