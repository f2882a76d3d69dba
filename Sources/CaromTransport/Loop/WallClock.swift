#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The system's wall clock, for times that must have the same meaning on several computers. The
/// clock can be set forward or back, so nothing that happens within one process may depend on it.
package enum WallClock {
  /// The time in whole milliseconds since the beginning of 1970 (UTC).
  package static var milliseconds: Int64 {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// The time in whole seconds since the beginning of 1970 (UTC).
  package static var seconds: UInt64 { UInt64(max(0, milliseconds)) / 1_000 }
}
