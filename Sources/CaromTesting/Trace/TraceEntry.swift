import CaromCore

/// One line of a `Trace`: what happened, when, where, and to how many bytes.
public struct TraceEntry: Hashable, Sendable {
  /// What happened.
  public enum Event: String, Hashable, Sendable {
    /// A datagram came to a link.
    case sent
    /// The link carries a second copy of it.
    case doubled
    /// Some of its bytes changed; the hash is that of the new ones.
    case corrupted
    /// It was held back.
    case reordered
    /// It came out of the link, or was injected.
    case delivered
    /// It did not; the reason stands beside.
    case dropped
    /// A stream's call came to its listener.
    case accepted
    /// A stream's call was answered.
    case connected
    /// Nobody listened.
    case refused
    /// Nobody answered.
    case timedOut
    /// Bytes came out of a stream.
    case bytes
    /// A stream came to its end.
    case end
    /// A stream was broken off.
    case reset
    /// Nothing written to a stream waits at the sender.
    case drained
    /// A cable, a process or a machine was tampered with; the text says how.
    case fault
    /// Something that a test wrote.
    case note
  }

  /// The two machines of a link.
  public struct Link: Hashable, Sendable {
    /// The sender, counted from 0.
    public let from: Int
    /// The receiver, counted from 0.
    public let to: Int
  }

  /// When.
  public let time: Instant
  /// What.
  public let event: Event
  /// Whom it was told to, or whom it befell.
  public var host: VirtualHost.ID?
  /// Where.
  public var link: Link?
  /// The stream's number.
  public var stream: Int?
  /// Bytes of the payload.
  public var size: Int?
  /// A hash of the payload.
  public var hash: UInt64?
  /// Why it was dropped.
  public var reason: DropReason?
  /// What else there is to say.
  public var text: String?

  /// What happened, to nobody yet.
  init(_ event: Event, at time: Instant) {
    self.time = time
    self.event = event
  }

  /// The entry about these bytes.
  func about(_ payload: [UInt8]) -> TraceEntry {
    var digest = Digest()
    digest.absorb(payload)
    var copy = self
    copy.size = payload.count
    copy.hash = digest.value
    return copy
  }
}

extension TraceEntry: CustomStringConvertible {
  /// One JSON object on one line: time in nanoseconds, and what there is to say.
  public var description: String {
    var line = "{\"time\":\(time.nanoseconds),\"event\":\"\(event.rawValue)\""
    if let link { line += ",\"link\":\"\(link.from)>\(link.to)\"" }
    if let host { line += ",\"host\":\(host.number)" }
    if let stream { line += ",\"stream\":\(stream)" }
    if let size { line += ",\"size\":\(size)" }
    if let hash { line += ",\"hash\":\"\(Digest(value: hash).text)\"" }
    if let reason { line += ",\"reason\":\"\(reason)\"" }
    if let text { line += ",\"text\":\"\(Self.escaped(text))\"" }
    return line + "}"
  }

  /// As RFC 8259 §7 wants it.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
