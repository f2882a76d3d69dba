import SessionPeers

/// What a side tells its starter.
enum SessionTell {
  static func say(_ word: String) { unsafe side_say(word) }
  static func figure(_ name: String, _ value: Double) { unsafe side_figure(name, value) }
}

/// What a receiver makes of what comes.
@safe struct SessionMeter: ~Copyable {
  private var meter: side_meter

  init(_ options: side_options) {
    var options = unsafe options
    unsafe meter = side_meter_make(&options)
  }

  mutating func take(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe side_meter_take(&meter, bytes.baseAddress, bytes.count)
    }
  }

  mutating func isDone() -> Bool { unsafe side_meter_is_done(&meter) }

  mutating func tell() { unsafe side_meter_tell(&meter) }
}

/// Times of a kind, nanoseconds.
@safe struct SessionTimes: ~Copyable {
  private var samples = unsafe side_samples()

  mutating func add(_ time: UInt64) { unsafe side_samples_add(&samples, time) }

  mutating func tell(_ name: String) { unsafe side_samples_tell(&samples, name) }
}

/// What a sender sends, and when.
struct SessionSource {
  private var source: side_source

  init(_ options: side_options) {
    var options = unsafe options
    source = unsafe side_source_make(&options)
  }

  var isBulk: Bool { source.bulk }

  /// The message that is due, if one is.
  mutating func take() -> (kind: side_kind, message: SessionBytes)? {
    var kind = SIDE_IS_BULK
    var message = SessionBytes(count: Int(SIDE_STATE))
    let count = unsafe message.bytes.withUnsafeMutableBufferPointer { bytes in
      unsafe side_source_take(&source, bytes.baseAddress, &kind)
    }
    guard count > 0 else { return nil }
    message.bytes.removeLast(message.bytes.count - count)
    return (kind, message)
  }

  /// Until the next is due.
  mutating func wait() -> Duration { .nanoseconds(Int64(unsafe side_source_wait(&source))) }
}
