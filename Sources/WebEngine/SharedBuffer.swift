#if arch(wasm32)
  import CaromCore

  /// The memory through which bytes pass between the page and the engine, in both directions. What
  /// a call has written there is valid until the next call.
  package enum SharedBuffer {
    /// The length of the buffer: more than an engine writes to a link at a time.
    package static let length = 1 << 16
    /// The buffer. It is never released.
    private nonisolated(unsafe) static let memory = UnsafeMutableBufferPointer<UInt8>.allocate(
      capacity: length)

    /// The address of the buffer in the program's memory.
    package static var address: Int { unsafe Int(bitPattern: memory.baseAddress) }

    /// Returns a copy of the first `count` bytes.
    package static func read(_ count: Int32) -> [UInt8] {
      let count = min(max(0, Int(count)), length)
      return (0..<count).map { unsafe memory[$0] }
    }

    /// Writes bytes, as many as the buffer holds, and returns their number.
    package static func write(_ bytes: [UInt8]) -> Int32 {
      let count = min(bytes.count, length)
      for index in 0..<count { unsafe memory[index] = bytes[index] }
      return Int32(count)
    }
  }

  extension Instant {
    /// Creates the time at which the page's clock shows this many milliseconds; the clock's origin
    /// for what is not a time.
    package init(milliseconds: Double) {
      self =
        milliseconds > 0 && milliseconds < 1e12
        ? Instant(nanoseconds: Int64(milliseconds * 1_000_000)) : .zero
    }
  }
#endif
