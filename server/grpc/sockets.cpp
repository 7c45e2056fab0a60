// What needs Boost.Asio, compiled once.
#include "session.cpp"
// clang-format off
#include "server.cpp"
