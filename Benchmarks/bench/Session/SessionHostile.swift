import Carom
import SessionPeers

/// A peer that has its seat and sends what costs most: the time that a host takes for each packet.
struct SessionHostile {
  /// What fills its packets.
  enum Kind: String, CaseIterable {
    case noise = "noise behind a good head"
    case pings = "a ping and padding"
    case tiny = "empty messages"
    case ordered = "ordered messages with gaps"
    case sequenced = "sequenced messages"
    case pieces = "pieces of many messages"
    case credits = "credits"
    case ranges = "acknowledgements with gaps"
  }

  private static let hostWay = Route(Endpoint(.loopback4, port: 1))
  private static let ownWay = Route(Endpoint(.loopback4, port: 2))
  private static let packets = 1_000
  private static let replays = 7
  private static let firstNumber: UInt64 = 5_000

  private var host = Host(SessionCarom.peer(1), seats: 1, secret: HostSecret(low: 1, high: 2))
  private var own = Host(SessionCarom.peer(2), seats: 0, secret: HostSecret(low: 3, high: 4))
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var link = ConnectionID(0)
  private var writer = FrameWriter()
  private var hostSent: UInt64 = 0

  /// What a kind's packets cost, nanoseconds.
  struct Cost {
    let kind: Kind
    let middle: Double
    /// Of a hundred, all but one cost less.
    let most: Double
    /// A table that grows, as long as there is room for it, is in here.
    let worst: Double
  }

  /// Every packet is taken in several replays, and its least time counts: what else the machine
  /// did is no part of it.
  static func measure() -> [Cost] {
    Kind.allCases.map { kind in
      var least = [UInt64](repeating: .max, count: packets)
      for _ in 0..<replays {
        var run = SessionHostile()
        run.begin()
        for number in 0..<packets { least[number] = min(least[number], run.take(kind, number)) }
      }
      least.sort()
      return Cost(
        kind: kind, middle: Double(least[packets / 2]), most: Double(least[packets * 99 / 100]),
        worst: Double(least[packets - 1]))
    }
  }

  /// Takes its seat.
  private mutating func begin() {
    link = own.makeConnectionID()
    own.connect(link, to: [Self.hostWay], key: ConnectionKey(prefix: 3, rest: 4), at: now)
    for _ in 0..<20 {
      for datagram in flush(&own) {
        host.receiveDatagram(datagram.span, from: Self.ownWay, at: now)
      }
      for datagram in answer() { own.receiveDatagram(datagram.span, from: Self.hostWay, at: now) }
      now = now.advanced(by: .milliseconds(10))
      own.handleTimeout(at: now)
    }
  }

  /// The host's time for one packet; then it is polled to dry, which does not count.
  private mutating func take(_ kind: Kind, _ number: Int) -> UInt64 {
    let packet = makePacket(kind, number)
    now = now.advanced(by: .milliseconds(1))
    let begin = side_now()
    host.receiveDatagram(packet.span, from: Self.ownWay, at: now)
    let time = side_now() - begin
    for link in host.connectionIDs {
      _ = try? host.send([1, 2, 3].span, on: 9, SendOptions(.unreliable), to: link, at: now)
    }
    hostSent += UInt64(answer().count)
    return time
  }

  private mutating func answer() -> [[UInt8]] {
    while let event = host.pollEvent() {
      switch event {
      case .requested(let link, _, _): host.admit(link, at: now)
      case .connection(let link, .messages): while host.pollMessage(on: link, { _, _ in }) {}
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
    while let link = machine.pollReady() {
      while machine.pollDatagram(on: link, into: &buffer, at: now) != nil {
        datagrams.append(buffer)
        buffer = []
      }
      machine.didFlush(link, at: now)
    }
    return datagrams
  }
}

// What it sends
extension SessionHostile {
  private mutating func makePacket(_ kind: Kind, _ number: Int) -> [UInt8] {
    writer.begin(limit: 1_472)
    DataHeader(role: .initiator, number: Self.firstNumber + UInt64(number), numberLength: 4)
      .write(to: &writer)
    var count = 0
    while append(kind, number, count) { count += 1 }
    return writer.takeBytes()
  }

  /// Whether there was room for another.
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
    case .pieces:
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

  /// Every other packet of the last ones that the host sent, as often as there is room.
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
