import CaromCore
import CaromProtocol
import CaromTesting

/// Sends an endless stream, a small message sixty times a second, or both, through a
/// `DatagramFlow`. Lost parts of the stream are sent again.
struct FlowSender {
  /// The bytes of a packet that are not the stream's: about as many as headers and frames take.
  static let overhead = 16
  static let gameInterval = Duration.nanoseconds(16_666_667)
  static let gameSize = 100

  private(set) var flow: DatagramFlow
  let socket: VirtualSocket
  private let destination: Endpoint
  private let isBulk: Bool
  /// How many bytes of the stream were sent at least once, and the parts to send again.
  private var streamEnd: UInt64 = 0
  private var resends: [FrameRecord] = []
  private var acknowledged: [FrameRecord] = []
  private var lost: [FrameRecord] = []
  private var ranges = AcknowledgedRanges()
  private var nextGame: Instant?
  private(set) var gamesHeldUp = 0
  private(set) var bytesRepeated = 0
  private(set) var largestSizeTime: Instant?
  let maximumPayload: Int

  init(
    _ socket: VirtualSocket, to destination: Endpoint, bulk: Bool = true, game: Bool = false,
    maximumPayload: Int = 1_472, at now: Instant
  ) {
    self.socket = socket
    self.destination = destination
    self.maximumPayload = maximumPayload
    isBulk = bulk
    nextGame = game ? now : nil
    flow = DatagramFlow(maximumPayload: maximumPayload, at: now)
  }

  var nextTimeout: Instant? {
    earliest(earliest(flow.nextTimeout, isBulk ? flow.nextSendTime() : nil), nextGame)
  }

  mutating func handle(_ payload: [UInt8], in network: inout VirtualNetwork) {
    var reader = FrameReader(payload.span)
    while let frame = try? reader.next(ranges: &ranges) {
      guard case .acknowledgement(let delay) = frame else { continue }
      _ = flow.handle(
        ranges, ackDelay: delay.nanoseconds, at: network.now, acknowledged: &acknowledged,
        lost: &lost)
    }
    acknowledged.removeAll(keepingCapacity: true)
    pump(in: &network)
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    if let due = flow.nextTimeout, due <= network.now,
      flow.handleTimeout(at: network.now, lost: &lost)
    {
      queueResends()
      if isBulk { sendStream(in: &network) } else { send(.ping, in: &network) }
    }
    pump(in: &network)
  }

  mutating func pump(in network: inout VirtualNetwork) {
    let now = network.now
    queueResends()
    if let due = nextGame, due <= now {
      nextGame = due + Self.gameInterval
      if flow.allowance(at: now, urgent: true) > 0 {
        send(.game, in: &network)
      } else {
        gamesHeldUp += 1
      }
    }
    if let size = flow.nextMTUProbe(at: now), flow.allowance(at: now, urgent: false) > 0 {
      send(.probe(size), in: &network)
    }
    while isBulk, flow.allowance(at: now, urgent: false) > 0 { sendStream(in: &network) }
    if flow.packetSize == maximumPayload, largestSizeTime == nil { largestSizeTime = now }
  }

  private mutating func queueResends() {
    for record in lost where record.kind == .reliable {
      resends.append(record)
      bytesRepeated += Int(record.length)
    }
    lost.removeAll(keepingCapacity: true)
  }

  private enum Content {
    case ping, game
    case probe(Int)
  }

  private mutating func send(_ content: Content, in network: inout VirtualNetwork) {
    switch content {
    case .ping: send(size: 20, [], isAppLimited: true, in: &network)
    case .game: send(size: Self.gameSize, [], isAppLimited: !isBulk, in: &network)
    case .probe(let size):
      send(size: size, [], isProbe: true, isAppLimited: !isBulk, in: &network)
    }
  }

  private mutating func sendStream(in network: inout VirtualNetwork) {
    let room = UInt32(flow.packetSize - Self.overhead)
    var record: FrameRecord
    if let first = resends.first {
      record = first
      record.length = min(first.length, room)
      if record.length == first.length {
        resends.removeFirst()
      } else {
        resends[0].number += UInt64(record.length)
        resends[0].length -= record.length
      }
    } else {
      record = FrameRecord(.reliable, number: streamEnd, length: room)
      streamEnd += UInt64(room)
    }
    send(
      size: Int(record.length) + Self.overhead, [record], isAppLimited: false, in: &network)
  }

  private mutating func send(
    size: Int, _ records: [FrameRecord], isProbe: Bool = false, isAppLimited: Bool,
    in network: inout VirtualNetwork
  ) {
    var writer = PacketWriter(capacity: size)
    writer.writeBigEndian(UInt32(truncatingIfNeeded: flow.nextNumber))
    writer.writeBigEndian(records.first?.number ?? 0)
    writer.writeBigEndian(UInt32(records.first?.length ?? 0))
    let payload = writer.bytes + [UInt8](repeating: 0, count: size - 16)
    flow.didSend(
      bytes: size, isAckEliciting: true, records: records, isMTUProbe: isProbe,
      isAppLimited: isAppLimited, at: network.now)
    network.send(payload, from: socket, to: destination)
  }
}

extension DatagramFlow {
  /// The time at which `handleTimeout` must be called, or nil if no timer is armed.
  var nextTimeout: Instant? {
    var copy = self
    return copy.findTimeout()
  }
}
