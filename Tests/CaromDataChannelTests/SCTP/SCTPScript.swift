import CaromCore
import CaromDataChannel

/// Runs bytes as a script between two associations: each byte chooses what happens next, and the
/// bytes after it are its arguments. Packets are lost, repeated, and changed under a right
/// checksum.
struct SCTPScript {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The maximum number of packets that are on their way to a side.
  private static let flightLimit = 64

  private let script: [UInt8]
  private var position = 0
  private var sides: [SCTPAssociation]
  private var flights: [[[UInt8]]] = [[], []]
  private var now = Instant.zero
  private var failure: Failure?

  /// Runs a script, and returns the number of packets that were received. Throws if an association
  /// breaks one of its bounds.
  static func run(_ script: [UInt8]) throws(Failure) -> Int {
    var run = SCTPScript(script)
    while run.position < script.count {
      run.step()
      if let failure = run.failure { throw failure }
    }
    return run.sides.reduce(0) { $0 + $1.statistics.messagesReceived + $1.statistics.duplicates }
  }

  private init(_ script: [UInt8]) {
    self.script = script
    let isMutual = script.first.map { $0 & 0x80 != 0 } ?? false
    sides = [
      SCTPAssociation(.initiator, .init(tag: 1, firstTSN: 0xFFFF_FFF0, cookie: 1)),
      SCTPAssociation(
        isMutual ? .initiator : .responder, .init(tag: 2, firstTSN: 0x7FFF_FFF0, cookie: 2)),
    ]
    poll()
  }

  private mutating func next() -> Int {
    guard position < script.count else { return 0 }
    defer { position += 1 }
    return Int(script[position])
  }

  private mutating func step() {
    let choice = next()
    let side = choice >> 3 & 1
    switch choice & 7 {
    case 0, 1: deliver(to: side, isLast: choice & 16 != 0)
    case 2: send(from: side, length: choice & 0xE0)
    case 3: deliverChanged(to: side)
    case 4: if !flights[side].isEmpty { flights[side].removeFirst() }
    case 5: if let packet = flights[side].first { put(packet, to: side) }
    case 6: pass(.milliseconds(next() * 8))
    default: handRaw(to: side)
    }
    poll()
    if choice == 0xFF { sides[side].abort() }
  }

  private mutating func deliver(to side: Int, isLast: Bool) {
    guard let packet = isLast ? flights[side].popLast() : flights[side].first else { return }
    if !isLast { flights[side].removeFirst() }
    receive(packet, at: side)
  }

  private mutating func send(from side: Int, length: Int) {
    let message = [UInt8](repeating: 1, count: length == 0xE0 ? 1_200 : max(1, length))
    var written: [[UInt8]] = []
    let isSent = sides[side].send(message.span, at: now) { written.append(Array(copying: $0)) }
    if isSent, written.isEmpty { failure = Failure(description: "a message without a packet") }
    for packet in written { put(packet, to: 1 - side) }
  }

  private mutating func deliverChanged(to side: Int) {
    guard var packet = flights[side].first else { return }
    for _ in 0...next() & 3 {
      let index = (next() << 8 | next()) % packet.count
      packet[index] = UInt8(next())
    }
    if next() & 3 == 0 { packet.removeLast(min(packet.count - 12, next())) }
    receive(Self.sealed(packet), at: side)
  }

  /// Hands a side a packet of its tag, with the next bytes of the script as its chunks.
  private mutating func handRaw(to side: Int) {
    var packet: [UInt8] = [0x13, 0x88, 0x13, 0x88, 0, 0, 0, UInt8(side + 1), 0, 0, 0, 0]
    for _ in 0..<4 + next() & 63 { packet.append(UInt8(next())) }
    receive(Self.sealed(packet), at: side)
  }

  private static func sealed(_ packet: [UInt8]) -> [UInt8] {
    var packet = packet
    let checksum = SCTPAssociation.checksum(of: packet.span)
    for index in 0..<4 { packet[8 + index] = UInt8(checksum >> UInt32(24 - 8 * index) & 0xFF) }
    return packet
  }

  private mutating func receive(_ packet: [UInt8], at side: Int) {
    var lengths: [Int] = []
    sides[side].receive(packet.span, at: now) { lengths.append($0.count) }
    if !lengths.allSatisfy({ (1...SCTPAssociation.maximumMessageLength).contains($0) }) {
      failure = Failure(description: "a message of a wrong length was delivered: \(lengths)")
    }
  }

  private mutating func pass(_ duration: Duration) {
    now = now + duration
    for side in sides.indices where sides[side].findTimeout().map({ $0 <= now }) == true {
      sides[side].handleTimeout(at: now)
    }
  }

  /// Collects what both sides send. A second poll finds nothing, and no timeout is left behind.
  private mutating func poll() {
    for side in sides.indices {
      var written: [[UInt8]] = []
      sides[side].pollTransmit(at: now) { written.append(Array(copying: $0)) }
      for packet in written { put(packet, to: 1 - side) }
      var hasMore = false
      sides[side].pollTransmit(at: now) { _ in hasMore = true }
      if hasMore || sides[side].findTimeout().map({ $0 < now }) == true {
        failure = Failure(description: "a poll left something to do")
      }
    }
  }

  private mutating func put(_ packet: [UInt8], to side: Int) {
    if packet.count < 16 || packet.count > SCTPAssociation.maximumPacketLength {
      failure = Failure(description: "a packet of \(packet.count) bytes")
    }
    if flights[side].count < Self.flightLimit { flights[side].append(packet) }
  }
}
