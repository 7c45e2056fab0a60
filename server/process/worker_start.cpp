#include "process/worker_start.h"

#include <cstdio>
#include <stdexcept>

namespace tenfold::server {
namespace {

constexpr std::string_view kName = "--worker=";

}  // namespace

std::string worker_argument(const Sockets& sockets, const Descriptor& link, const Descriptor& models, Accept accept, int number) {
  std::string text(kName);
  for (const Descriptor* one : {&sockets.http, &sockets.metrics, &sockets.grpc, &link, &models})
    text += std::to_string(one->number()) + ",";
  return text + std::to_string(static_cast<int>(accept)) + "," + std::to_string(number);
}

std::optional<WorkerStart> parse_worker_argument(const std::string& argument) {
  if (!argument.starts_with(kName)) return std::nullopt;
  int http = -1, metrics = -1, grpc = -1, link = -1, models = -1, accept = 0, number = 0, end = 0;
  const char* const numbers = argument.c_str() + kName.size();
  if (std::sscanf(numbers, "%d,%d,%d,%d,%d,%d,%d%n", &http, &metrics, &grpc, &link, &models, &accept, &number, &end) != 7 ||
      numbers[end] != '\0' || link < 0 || number < 1 || accept < 0 || accept > static_cast<int>(Accept::ready))
    throw std::runtime_error("'" + argument + "' is for workers, which tenfold-server starts itself");
  WorkerStart start;
  start.sockets.http = Descriptor(http);
  start.sockets.metrics = Descriptor(metrics);
  start.sockets.grpc = Descriptor(grpc);
  start.link = Descriptor(link);
  start.models = Descriptor(models);
  start.accept = static_cast<Accept>(accept);
  start.number = number;
  return start;
}

}  // namespace tenfold::server
