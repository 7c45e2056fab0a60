// Memory for weights, fresh from the kernel in huge pages where it has them: hundreds of page faults instead of a hundred thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenfold {

// Zeroed, aligned to 2 MiB; costs memory only where it is touched. Null if the system refuses.
std::shared_ptr<void> map_huge(std::int64_t bytes);
// Makes some of such memory zero again; whole pages go back to the system.
void clear_pages(std::byte* begin, std::byte* end);

}  // namespace tenfold
