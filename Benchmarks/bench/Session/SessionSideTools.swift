import SessionPeers

/// Prints the lines that the process that started this side reads.
enum SessionOutput {
  static func status(_ word: String) { unsafe side_print(word) }
  static func figure(_ name: String, _ value: Double) { unsafe side_figure(name, value) }
}

/// A receiver's statistics of the messages that arrived.
@safe struct SessionMeter: ~Copyable {
  private var meter: side_meter

  init(_ options: side_options) {
    var options = unsafe options
    unsafe meter = side_meter_make(&options)
  }

  mutating func record(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe side_meter_record(&meter, bytes.baseAddress, bytes.count)
    }
  }

  mutating func isDone() -> Bool { unsafe side_meter_is_done(&meter) }

  mutating func printFigures() { unsafe side_meter_print(&meter) }
}

/// Samples of a duration, in nanoseconds.
@safe struct SessionTimes: ~Copyable {
  private var samples = unsafe side_samples()

  mutating func add(_ time: UInt64) { unsafe side_samples_add(&samples, time) }

  mutating func printFigures(_ name: String) { unsafe side_samples_print(&samples, name) }
}

/// A sender's schedule of messages.
struct SessionSource {
  private var source: side_source

  init(_ options: side_options) {
    var options = unsafe options
    source = unsafe side_source_make(&options)
  }

  var isBulk: Bool { source.bulk }

  /// Returns the next message whose time has come, or nil if none is due.
  mutating func popDue() -> (kind: side_kind, message: SessionBytes)? {
    var kind = SIDE_IS_BULK
    var message = SessionBytes(count: Int(SIDE_STATE))
    let count = unsafe message.bytes.withUnsafeMutableBufferPointer { bytes in
      unsafe side_source_pop_due(&source, bytes.baseAddress, &kind)
    }
    guard count > 0 else { return nil }
    message.bytes.removeLast(message.bytes.count - count)
    return (kind, message)
  }

  /// Returns the time until the next message is due.
  mutating func timeUntilNext() -> Duration {
    .nanoseconds(Int64(unsafe side_source_time_until_next(&source)))
  }
}
