import CaromCore

@testable import CaromDataChannel

/// Two associations on virtual time, with packets that are lost, reordered and duplicated between
/// them.
struct AssociationPair {
  /// What the path does to packets, as probabilities.
  struct Path {
    var loss = 0.0
    var reordering = 0.0
    var duplication = 0.0
  }

  private struct Flight {
    var arrival: Instant
    var order: Int
    /// 0 or 1: the side that receives the packet.
    var side: Int
    var packet: [UInt8]
  }

  var path: Path
  var sides: [SCTPAssociation]
  /// The messages that each side has received.
  private(set) var received: [[[UInt8]]] = [[], []]
  /// The packets that each side has sent.
  private(set) var packets: [[[UInt8]]] = [[], []]
  private(set) var now = Instant.zero
  private var flights: [Flight] = []
  private var order = 0
  private var generator: SeededGenerator

  init(
    _ first: SCTPAssociation.Role = .initiator, _ second: SCTPAssociation.Role = .responder,
    path: Path = Path(), firstTSNs: [UInt32] = [100, 200], seed: UInt64 = 0
  ) {
    self.path = path
    generator = SeededGenerator(seed: seed)
    sides = zip([first, second], firstTSNs).enumerated().map { index, side in
      SCTPAssociation(
        side.0,
        .init(tag: UInt32(index) + 0xA000_0001, firstTSN: side.1, cookie: UInt64(index) + seed))
    }
  }

  var states: [SCTPAssociation.State] { sides.map(\.state) }
  var isEstablished: Bool { states == [.established, .established] }

  /// The time at which each side has something to do.
  var timeouts: [Instant?] {
    mutating get { sides.indices.map { sides[$0].findTimeout() } }
  }

  /// Sends a message, and returns whether it was not refused.
  mutating func send(_ message: [UInt8], from side: Int) -> Bool {
    var written: [[UInt8]] = []
    let isSent = sides[side].send(message.span, at: now) { written.append(Array(copying: $0)) }
    for packet in written { transmit(packet, from: side) }
    return isSent
  }

  /// Lets `duration` pass.
  mutating func run(for duration: Duration) {
    let end = now + duration
    poll()
    while let next = findNext(), next <= end {
      now = max(now, next)
      deliverArrived()
      for side in sides.indices where sides[side].findTimeout().map({ $0 <= now }) == true {
        sides[side].handleTimeout(at: now)
      }
      poll()
    }
    now = end
  }

  /// Hands a packet to a side, as it is.
  mutating func hand(_ packet: [UInt8], to side: Int) {
    var messages: [[UInt8]] = []
    sides[side].receive(packet.span, at: now) { messages.append(Array(copying: $0)) }
    received[side] += messages
  }

  private mutating func findNext() -> Instant? {
    timeouts.reduce(flights.map(\.arrival).min()) { earliest($0, $1) }
  }

  private mutating func deliverArrived() {
    let arrived = flights.filter { $0.arrival <= now }
      .sorted { ($0.arrival, $0.order) < ($1.arrival, $1.order) }
    flights.removeAll { $0.arrival <= now }
    for flight in arrived { hand(flight.packet, to: flight.side) }
  }

  private mutating func poll() {
    for side in sides.indices {
      var written: [[UInt8]] = []
      sides[side].pollTransmit(at: now) { written.append(Array(copying: $0)) }
      for packet in written { transmit(packet, from: side) }
    }
  }

  private mutating func transmit(_ packet: [UInt8], from side: Int) {
    packets[side].append(packet)
    let copies = generator.chance(path.duplication) ? 2 : 1
    for _ in 0..<copies where !generator.chance(path.loss) {
      var delay = Duration.milliseconds(20)
      if generator.chance(path.reordering) {
        delay += generator.duration(in: .zero ... .milliseconds(60))
      }
      order += 1
      flights.append(
        Flight(arrival: now + delay, order: order, side: 1 - side, packet: packet))
    }
  }
}
