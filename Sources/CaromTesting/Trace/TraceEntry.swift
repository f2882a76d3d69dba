import CaromCore

/// One entry of a `Trace`: an event, with its time and details.
public struct TraceEntry: Hashable, Sendable {
  /// The kind of an event.
  public enum Event: String, Hashable, Sendable {
    /// A datagram was sent over a link.
    case sent
    /// The link duplicated a datagram.
    case duplicated = "doubled"  // the name in the trace format, which does not change
    /// Bytes of a datagram were changed. `hash` is the hash of the changed payload.
    case corrupted
    /// A datagram was delayed by `LinkConditions.reordering`.
    case reordered
    /// A datagram arrived at a socket, or was injected.
    case delivered
    /// A datagram was dropped; see `reason`.
    case dropped
    /// A listener accepted a stream.
    case accepted
    /// A client's stream was connected.
    case connected
    /// A connection was refused, because no host listens on the port.
    case refused
    /// A connection attempt timed out.
    case timedOut
    /// Bytes of a stream arrived.
    case bytes
    /// The peer finished writing to a stream.
    case end
    /// The peer reset a stream.
    case reset
    /// All bytes written to a stream have left the sender.
    case drained
    /// A fault was injected; see `text`.
    case fault
    /// The test added a note; see `text`.
    case note
  }

  /// The two machines of a link.
  public struct Link: Hashable, Sendable {
    /// The number of the sending machine, counted from 0.
    public let from: Int
    /// The number of the receiving machine, counted from 0.
    public let to: Int
  }

  /// The virtual time of the event.
  public let time: Instant
  /// The kind of the event.
  public let event: Event
  /// The host that received the event or to which a fault was injected. Nil if the event concerns
  /// no single host.
  public var host: VirtualHost.ID?
  /// The link over which a datagram was sent, or nil if no link is involved.
  public var link: Link?
  /// The number of the stream, or nil for other events.
  public var stream: Int?
  /// The length of the payload in bytes, or nil for an event without a payload.
  public var size: Int?
  /// The FNV-1a hash of the payload, or nil for an event without a payload.
  public var hash: UInt64?
  /// The reason why a datagram was dropped, or nil for other events.
  public var reason: DropReason?
  /// The description of a fault or the text of a note, or nil for other events.
  public var text: String?

  /// Creates an entry with a kind and a time, but without details.
  init(_ event: Event, at time: Instant) {
    self.time = time
    self.event = event
  }

  /// Returns a copy of the entry with the length and the hash of a payload.
  func withPayload(_ payload: [UInt8]) -> TraceEntry {
    var digest = Digest()
    digest.absorb(payload)
    var copy = self
    copy.size = payload.count
    copy.hash = digest.value
    return copy
  }
}

extension TraceEntry: CustomStringConvertible {
  /// The entry as a JSON object on one line, with the time in nanoseconds and all details.
  public var description: String {
    var line = "{\"time\":\(time.nanoseconds),\"event\":\"\(event.rawValue)\""
    if let link { line += ",\"link\":\"\(link.from)>\(link.to)\"" }
    if let host { line += ",\"host\":\(host.number)" }
    if let stream { line += ",\"stream\":\(stream)" }
    if let size { line += ",\"size\":\(size)" }
    if let hash { line += ",\"hash\":\"\(Digest(value: hash).text)\"" }
    if let reason { line += ",\"reason\":\"\(reason.traceName)\"" }
    if let text { line += ",\"text\":\"\(Self.escaped(text))\"" }
    return line + "}"
  }

  /// Returns a string with the escapes that JSON requires (RFC 8259 §7).
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
