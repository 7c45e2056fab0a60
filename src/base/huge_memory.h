// Memory for weights, fresh from the kernel in huge pages where it has them: hundreds of page faults instead of a hundred thousand.
#pragma once

#include <cstdint>
#include <memory>

namespace tenfold {

// Zeroed, aligned to 2 MiB; costs memory only where it is touched. Null if the system refuses.
std::shared_ptr<void> map_huge(std::int64_t bytes);

}  // namespace tenfold
