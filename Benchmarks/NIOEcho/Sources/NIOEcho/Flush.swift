#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Flushes standard output, so that the parent process receives the port before this one waits.
func fflushAll() { fflush(nil) }
