import CaromCore
import CaromProtocol
import CaromTesting

/// Acknowledges received packets and counts each byte of the stream once.
struct FlowReceiver {
  let socket: VirtualSocket
  private var received = ReceivedPackets()
  private var peer: Endpoint?
  private var writer = FrameWriter(limit: 1_200)
  /// The stream has arrived completely up to this offset, and in the given ranges after it.
  private var whole: UInt64 = 0
  private var fragments: [Range<UInt64>] = []
  /// How many new bytes of the stream arrived in each tenth of a second.
  private(set) var history: [Int] = []

  init(_ socket: VirtualSocket) { self.socket = socket }

  var nextTimeout: Instant? { received.acknowledgementDeadline }

  /// How many new bytes of the stream arrived from `start` to `end`, in whole tenths of seconds.
  func bytes(from start: Double, to end: Double) -> Int {
    let (first, last) = (Int(start * 10), min(Int(end * 10), history.count))
    return first < last ? history[first..<last].reduce(0, +) : 0
  }

  mutating func handle(_ datagram: Datagram, in network: inout VirtualNetwork) {
    peer = datagram.source
    var reader = PacketReader(datagram.payload.span)
    guard let short = try? reader.readBigEndian(UInt32.self),
      let offset = try? reader.readBigEndian(UInt64.self),
      let length = try? reader.readBigEndian(UInt32.self)
    else { return }
    guard received.insert(UInt64(short), isAckEliciting: true, at: network.now) else { return }
    record(insert(offset..<offset + UInt64(length)), at: network.now)
    acknowledgeIfDue(in: &network)
  }

  mutating func acknowledgeIfDue(in network: inout VirtualNetwork) {
    guard let due = received.acknowledgementDeadline, due <= network.now, let peer else { return }
    writer.begin(limit: 1_200)
    guard received.appendRanges(to: &writer, at: network.now) else { return }
    network.send(writer.takeBytes(), from: socket, to: peer)
  }

  private mutating func record(_ bytes: Int, at now: Instant) {
    let tenth = Int(now.nanoseconds / 100_000_000)
    while history.count <= tenth { history.append(0) }
    history[tenth] += bytes
  }

  /// Inserts a range and returns how many of its bytes are new.
  private mutating func insert(_ range: Range<UInt64>) -> Int {
    guard !range.isEmpty, range.upperBound > whole else { return 0 }
    if range.lowerBound <= whole {
      let fresh = Int(range.upperBound - whole) - overlap(range)
      whole = range.upperBound
      join()
      return fresh
    }
    let fresh = range.count - overlap(range)
    let index = fragments.firstIndex { $0.lowerBound > range.lowerBound } ?? fragments.count
    fragments.insert(range, at: index)
    return fresh
  }

  private func overlap(_ range: Range<UInt64>) -> Int {
    let range = max(range.lowerBound, whole)..<range.upperBound
    return fragments.lazy.map { $0.clamped(to: range).count }.max() ?? 0
  }

  private mutating func join() {
    while let first = fragments.first, first.lowerBound <= whole {
      whole = max(whole, first.upperBound)
      fragments.removeFirst()
    }
  }
}
