// What the flags of `tenfold serve` set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenfold::cli {

struct ModelFlags {
  std::string name, device, precision, tune, fallback, plan_cache_folder;   // empty: as the help says
  std::int64_t max_batch = -1;                   // -1: chosen
  int instances = 0, threads = 0;
};

struct RepositoryFlags {
  std::vector<std::string> folders, load;
  std::string mode = "none", config_name;
  std::int64_t default_max_batch = 4;
  int poll_s = 15, threads = 0, unload_after_s = 0;
  bool strict = true, exit_on_error = true, complete = true;
};

struct QueueFlags {
  std::vector<std::int64_t> preferred;
  int size = 1024, delay_us = 0, timeout_us = 0;
};

struct TextFlags {
  std::int64_t batch_tokens = 0, max_texts = -1; // 0, -1: as the help says
  bool truncate = true, token_input = false, dimensions = false;
  std::string prompt, prompt_name, dtype, calibration;
  int tokenizers = 0;                            // threads
  std::string model_id;                          // TEI's name for the folder
};

struct HttpFlags {
  std::string address = "127.0.0.1", metrics_address;   // an empty one: that of HTTP
  int port = 8000, metrics_port = 8002, threads = 0, connections = 10000;
  std::int64_t body_bytes = std::int64_t{64} << 20;
  bool enabled = true, metrics = true;
};

struct GrpcFlags {
  bool enabled = true;
  std::string address, compression = "none";     // an empty address: that of HTTP
  int port = -1;                                 // -1: 8001, or a free one where HTTP takes one
};

struct LimitFlags {
  std::int64_t bytes_in_flight = 0;              // 0: a quarter of the memory
};

struct TlsFlags {
  bool enabled = false, mutual = false;
  std::string certificate, key, root;
};

struct SecurityFlags {
  std::string api_key_file, api_key;             // the second: one more, of --api-key
  std::vector<std::string> http_restricted, grpc_restricted;
  TlsFlags http, grpc;
};

struct MemoryFlags {
  std::int64_t cache_bytes = 0;                  // of responses; 0: there is no cache
  bool client_shm = false;                       // whether clients may name shared memory
};

struct ShutdownFlags {
  int delay_s = 0, timeout_s = 30;
};

// NAME=VALUE; the section is empty where none is named.
struct Setting {
  std::string section, name, value;
};
struct ObserveFlags {
  std::string log_format = "default", log_file;
  bool log_info = true, log_warning = true, log_error = true, gpu_metrics = true, cpu_metrics = true;
  int log_verbose = 0, metrics_interval_ms = 2000;
  std::vector<Setting> trace, metrics;
};

struct PatternFlags {
  std::vector<std::string> engines;              // plans and models, the best first
};

struct ProcessFlags {
  bool no_supervisor = false;
  std::string probe;                             // "ready", "live": asks the server, and ends
};

struct ServeOptions {
  bool help = false, full_help = false, print_config = false;
  std::string config_file, print_model_config;
  std::vector<std::string> notes;                // of flags that change nothing
  ModelFlags model;
  RepositoryFlags repository;
  QueueFlags queue;
  TextFlags text;
  HttpFlags http;
  GrpcFlags grpc;
  LimitFlags limits;
  SecurityFlags security;
  MemoryFlags memory;
  ShutdownFlags shutdown;
  ObserveFlags observe;
  PatternFlags pattern;
  ProcessFlags process;
};

}  // namespace tenfold::cli
