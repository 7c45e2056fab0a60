// Preloaded, it answers for the kernel that this process gets no AMX tiles: how ONNX Runtime, which has no switch for that, is timed as on
// a CPU without AMX. It asks through the C library's syscall().
//   cc -shared -fPIC -O2 -o build/refuse_amx.so bench/refuse_amx.c -ldl && LD_PRELOAD=$PWD/build/refuse_amx.so PROGRAM...
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

enum { kGetPermission = 0x1022, kRequestPermission = 0x1023 };   // of arch_prctl: ARCH_GET_XCOMP_PERM, ARCH_REQ_XCOMP_PERM

long syscall(long number, ...) {
  long argument[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) argument[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_arch_prctl && (argument[0] == kGetPermission || argument[0] == kRequestPermission)) {
    errno = EINVAL;
    return -1;
  }
  long (*next)(long, ...);
  *(void**)&next = dlsym(RTLD_NEXT, "syscall");
  return next(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
