import CaromCodec

/// What waits to leave on one connection: reliable frames in order, and for each
/// latest-wins channel the newest frame only.
struct Outbox: Sendable {
  /// The most bytes of reliable frames that may wait: a peer that does not read costs no more.
  static let reliableLimit = 1 << 20
  /// While the link below holds this many bytes, latest-wins frames stay here, where a newer one
  /// can still replace them. One 60 Hz state is some hundred bytes.
  static let latestThreshold = 4 << 10
  /// The most latest-wins channels that may have a frame waiting.
  static let latestChannelLimit = 64

  private var stream: [UInt8] = []
  private var taken = 0
  private var latest: [(channel: UInt16, frame: [UInt8])] = []

  /// Bytes of reliable frames that wait.
  var reliableCount: Int { stream.count - taken }

  var isEmpty: Bool { reliableCount == 0 && latest.isEmpty }

  mutating func append(_ packet: Packet) { stream.append(contentsOf: packet.framed()) }

  mutating func replace(_ packet: Packet, on channel: UInt16) {
    let frame = packet.framed()
    if let index = latest.firstIndex(where: { $0.channel == channel }) {
      latest[index].frame = frame
    } else if latest.count < Self.latestChannelLimit {
      latest.append((channel, frame))
    }
  }

  /// The bytes to hand down now to a link that holds `queued` bytes already, a piece at a time.
  mutating func take(queued: Int) -> [UInt8]? {
    if reliableCount == 0, queued < Self.latestThreshold {
      for entry in latest { stream.append(contentsOf: entry.frame) }
      latest.removeAll(keepingCapacity: true)
    }
    let piece = SessionLink.pieceLength
    guard reliableCount > 0, queued < piece else { return nil }
    defer {
      if taken == stream.count {
        stream.removeAll(keepingCapacity: stream.capacity <= piece)
        taken = 0
      }
    }
    let start = taken
    taken = min(stream.count, start + piece)
    return Array(stream[start..<taken])
  }

  mutating func dropLatest() { latest.removeAll() }
}
