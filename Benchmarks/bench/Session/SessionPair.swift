import Carom

/// Two protocol machines on virtual time, connected without sockets, whose bytes are counted
/// exactly.
struct SessionPair {
  /// One of the two machines.
  enum Side: Int {
    case initiator, responder

    var other: Side { self == .initiator ? .responder : .initiator }
    var route: Route { Route(Endpoint(.loopback4, port: UInt16(rawValue + 1))) }
  }

  private var machines: [Host]
  private var connections = [ConnectionID(0), ConnectionID(0)]
  private(set) var now = Instant.zero
  private(set) var messages = 0
  private(set) var datagrams = 0
  private var buffer: [UInt8] = []

  init(isEncrypted: Bool = false, cipher: Cipher? = nil) {
    machines = [1, 2].map { number in
      Host(
        SessionCarom.peer(number), seats: 1, secret: HostSecret(low: 1, high: 2),
        security: isEncrypted ? SessionCarom.security(number, cipher: cipher) : nil)
    }
    connections[0] = machines[0].makeConnectionID()
    machines[0].connect(
      connections[0], to: [Side.responder.route], key: ConnectionKey(prefix: 3, rest: 4), at: now)
  }

  /// Exchanges datagrams and advances time until neither side has anything to send.
  mutating func exchangeUntilIdle() {
    for _ in 1...20 {
      while deliverPending(from: .initiator) + deliverPending(from: .responder) > 0 { continue }
      advance(by: .milliseconds(50))
    }
  }

  mutating func advance(by duration: Duration) {
    now = now.advanced(by: duration)
    for index in machines.indices { machines[index].handleTimeout(at: now) }
  }

  mutating func send(_ bytes: [UInt8], from side: Side, _ delivery: Delivery) {
    let options = SendOptions(delivery)
    _ = try? machines[side.rawValue].send(
      bytes.span, on: 0, options, to: connections[side.rawValue], at: now)
  }

  /// Delivers the pending datagrams of one side to the other and returns the number of their bytes.
  @discardableResult
  mutating func deliverPending(from side: Side) -> Int {
    var count = 0
    handleEvents(of: side.other)
    handleEvents(of: side)
    while let answer = machines[side.rawValue].pollStatelessReply() {
      count += deliver(answer.bytes, from: side)
    }
    while let connection = machines[side.rawValue].pollReady() {
      while true {
        buffer.removeAll(keepingCapacity: true)
        guard machines[side.rawValue].pollDatagram(on: connection, into: &buffer, at: now) != nil
        else { break }
        count += deliver(buffer, from: side)
      }
      machines[side.rawValue].didFlush(connection, at: now)
    }
    return count
  }

  /// Delivers a datagram of one side to the other and returns the number of its bytes.
  @discardableResult
  mutating func deliver(_ bytes: [UInt8], from side: Side) -> Int {
    datagrams += 1
    machines[side.other.rawValue].receiveDatagram(bytes.span, from: side.route, at: now)
    return bytes.count
  }

  /// Admits connections, and pops and counts received messages.
  private mutating func handleEvents(of side: Side) {
    while let event = machines[side.rawValue].pollEvent() {
      switch event {
      case .requested(let connection, _, _): machines[side.rawValue].admit(connection, at: now)
      case .connection(let connection, .opened): connections[side.rawValue] = connection
      case .connection(let connection, .messages):
        var count = 0
        while machines[side.rawValue].pollMessage(on: connection, { _, _ in count += 1 }) {
          continue
        }
        messages += count
      default: break
      }
    }
  }
}
