import CaromCodec

/// What waits to leave on one connection: reliable frames in order, and for each
/// latest-wins channel the newest frame only.
struct Outbox: Sendable {
  /// The most bytes of reliable frames that may wait: a peer that does not read costs no more.
  static let reliableLimit = 1 << 20
  /// While the link below holds this many bytes, latest-wins frames stay here, where a newer one
  /// can still replace them. One 60 Hz state is some hundred bytes.
  static let latestThreshold = 4 << 10
  /// Reliable frames are handed down while the link holds fewer bytes than this.
  static let reliableThreshold = 64 << 10
  /// The most latest-wins channels that may have a frame waiting.
  static let latestChannelLimit = 64

  private var reliable: [UInt8] = []
  private var latest: [(channel: UInt16, frame: [UInt8])] = []

  /// Bytes of reliable frames that wait.
  var reliableCount: Int { reliable.count }

  /// How many latest-wins frames were replaced before they left.
  private(set) var replaced = 0

  var isEmpty: Bool { reliable.isEmpty && latest.isEmpty }

  mutating func append(_ packet: Packet) { reliable.append(contentsOf: packet.framed()) }

  mutating func replace(_ packet: Packet, on channel: UInt16) {
    let frame = packet.framed()
    if let index = latest.firstIndex(where: { $0.channel == channel }) {
      latest[index].frame = frame
      replaced += 1
    } else if latest.count < Self.latestChannelLimit {
      latest.append((channel, frame))
    }
  }

  /// The bytes to hand down now to a link that holds `queued` bytes already.
  mutating func take(queued: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    if queued < Self.reliableThreshold, !reliable.isEmpty { swap(&bytes, &reliable) }
    if queued + bytes.count < Self.latestThreshold {
      for entry in latest { bytes.append(contentsOf: entry.frame) }
      latest.removeAll(keepingCapacity: true)
    }
    return bytes.isEmpty ? nil : bytes
  }

  mutating func dropLatest() { latest.removeAll() }
}
