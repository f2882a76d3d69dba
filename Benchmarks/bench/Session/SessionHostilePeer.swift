import Carom
import SessionPeers

/// A connected peer that sends the most expensive packets it can make: measures the host's time for
/// each packet.
struct SessionHostilePeer {
  /// The content of the hostile packets.
  enum Kind: String, CaseIterable {
    case noise = "noise behind a good head"
    case pings = "a ping and padding"
    case tiny = "empty messages"
    case ordered = "ordered messages with gaps"
    case sequenced = "sequenced messages"
    case fragments = "pieces of many messages"
    case credits = "credits"
    case ranges = "acknowledgements with gaps"

    /// The description in printed tables; the raw value is the name in JSON.
    var title: String {
      switch self {
      case .noise: "noise after a valid header"
      case .pings: "a ping with padding"
      case .fragments: "fragments of many messages"
      case .credits: "credit frames"
      case .tiny, .ordered, .sequenced, .ranges: rawValue
      }
    }
  }

  private static let hostRoute = Route(Endpoint(.loopback4, port: 1))
  private static let clientRoute = Route(Endpoint(.loopback4, port: 2))
  private static let packets = 1_000
  private static let replays = 7
  private static let firstNumber: UInt64 = 5_000

  private var host = Host(SessionCarom.peer(1), seats: 1, secret: HostSecret(low: 1, high: 2))
  private var client = Host(SessionCarom.peer(2), seats: 0, secret: HostSecret(low: 3, high: 4))
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var connection = ConnectionID(0)
  private var writer = FrameWriter()
  private var hostSent: UInt64 = 0

  /// The host's time for packets of one kind, in nanoseconds.
  struct Cost {
    let kind: Kind
    let middle: Double
    /// The 99th percentile of the times.
    let most: Double
    /// The longest time, which includes the growth of tables.
    let worst: Double
  }

  /// Sends the same packets in several runs and uses the least time of each packet, which excludes
  /// disturbances by other work on the machine.
  static func measure() -> [Cost] {
    Kind.allCases.map { kind in
      var least = [UInt64](repeating: .max, count: packets)
      for _ in 0..<replays {
        var run = SessionHostilePeer()
        run.connect()
        for number in 0..<packets { least[number] = min(least[number], run.time(kind, number)) }
      }
      least.sort()
      return Cost(
        kind: kind, middle: Double(least[packets / 2]), most: Double(least[packets * 99 / 100]),
        worst: Double(least[packets - 1]))
    }
  }

  /// Connects the peer to the host.
  private mutating func connect() {
    connection = client.makeConnectionID()
    client.connect(
      connection, to: [Self.hostRoute], key: ConnectionKey(prefix: 3, rest: 4), at: now)
    for _ in 0..<20 {
      for datagram in flush(&client) {
        host.receiveDatagram(datagram.span, from: Self.clientRoute, at: now)
      }
      for datagram in answer() {
        client.receiveDatagram(datagram.span, from: Self.hostRoute, at: now)
      }
      now = now.advanced(by: .milliseconds(10))
      client.handleTimeout(at: now)
    }
  }

  /// Returns the host's time for one packet. The host's replies are then polled, which is not
  /// timed.
  private mutating func time(_ kind: Kind, _ number: Int) -> UInt64 {
    let packet = makePacket(kind, number)
    now = now.advanced(by: .milliseconds(1))
    let begin = side_now()
    host.receiveDatagram(packet.span, from: Self.clientRoute, at: now)
    let time = side_now() - begin
    for connection in host.connectionIDs {
      _ = try? host.send([1, 2, 3].span, on: 9, SendOptions(.unreliable), to: connection, at: now)
    }
    hostSent += UInt64(answer().count)
    return time
  }

  private mutating func answer() -> [[UInt8]] {
    while let event = host.pollEvent() {
      switch event {
      case .requested(let connection, _, _): host.admit(connection, at: now)
      case .connection(let connection, .messages):
        while host.pollMessage(on: connection, { _, _ in }) {}
      default: break
      }
    }
    host.handleTimeout(at: now)
    return flush(&host)
  }

  private func flush(_ machine: inout Host) -> [[UInt8]] {
    var datagrams: [[UInt8]] = []
    var buffer: [UInt8] = []
    while let answer = machine.pollStatelessReply() { datagrams.append(answer.bytes) }
    while let connection = machine.pollReady() {
      while machine.pollDatagram(on: connection, into: &buffer, at: now) != nil {
        datagrams.append(buffer)
        buffer = []
      }
      machine.didFlush(connection, at: now)
    }
    return datagrams
  }
}

// Packets
extension SessionHostilePeer {
  private mutating func makePacket(_ kind: Kind, _ number: Int) -> [UInt8] {
    writer.begin(limit: 1_472)
    DataHeader(role: .initiator, number: Self.firstNumber + UInt64(number), numberLength: 4)
      .write(to: &writer)
    var count = 0
    while append(kind, number, count) { count += 1 }
    return writer.takeBytes()
  }

  /// Appends one more frame of the given kind and returns whether there was room.
  private mutating func append(_ kind: Kind, _ number: Int, _ count: Int) -> Bool {
    let next = UInt64(number * 1_000 + count)
    let nothing: [UInt8] = []
    let channel = UInt8(count % 64)
    switch kind {
    case .noise: return appendNoise(number, count)
    case .pings:
      guard count == 0, writer.appendPing() else { return false }
      writer.appendPadding(to: 1_472)
      return true
    case .tiny:
      return writer.appendMessage(.unreliable, channel: channel, number: 0, nothing.span)
    case .ordered:
      return writer.appendMessage(
        .reliableOrdered, channel: channel, number: 2 * (next / 64) % 4_000 + 2, nothing.span)
    case .sequenced:
      return writer.appendMessage(
        .unreliableSequenced, channel: channel, number: next / 64, nothing.span)
    case .fragments:
      return writer.appendFragment(
        .reliableUnordered, channel: channel, number: next % 4_000, total: 2_000,
        offset: number % 1_999, [7].span)
    case .credits: return writer.appendCredit(channel: channel, limit: next)
    case .ranges: return appendRanges()
    }
  }

  private mutating func appendNoise(_ number: Int, _ count: Int) -> Bool {
    guard count < 1_400 else { return false }
    let mixed = UInt64(number &* 2_000 &+ count &+ 1) &* 0x9E37_79B9_7F4A_7C15
    writer.append(copying: [UInt8(truncatingIfNeeded: mixed >> 40)].span)
    return true
  }

  /// Appends an acknowledgement of every other packet that the host sent recently, with as many
  /// ranges as a frame can hold.
  private mutating func appendRanges() -> Bool {
    var ranges = AcknowledgedRanges()
    var largest = hostSent
    for _ in 0..<AcknowledgedRanges.maximumCount where largest > 2 {
      ranges.append(largest...largest)
      largest -= 2
    }
    guard !ranges.isEmpty else { return false }
    return writer.appendAcknowledgement(ranges, ackDelay: AckDelay(nanoseconds: 0)) > 0
  }
}
