// Sockets that listen, opened here or by a parent process that hands them on.
#pragma once

#include <cstdint>
#include <string>

namespace tenfold::server {

// Opens an address and a port, 0 for one that is free, and returns the descriptor, which the caller closes. Throws Error which names both.
int open_listen_socket(const std::string& address, std::uint16_t port);
std::uint16_t port_of(int socket);                // 0: it is no socket of TCP

}  // namespace tenfold::server
