/* TENFOLD_API marks what the shared libraries export, in C and C++. */
#ifndef TENFOLD_EXPORT_H
#define TENFOLD_EXPORT_H

#define TENFOLD_API __attribute__((visibility("default")))
/* Marks parts of an exported class that are not for callers. */
#define TENFOLD_NOT_EXPORTED __attribute__((visibility("protected")))

#endif
