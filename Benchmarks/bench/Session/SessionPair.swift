import Carom

/// Two machines on virtual time, one calling the other, with nothing between them: what they say
/// is counted, byte for byte.
struct SessionPair {
  /// Which of the two.
  enum Side: Int {
    case initiator, responder

    var other: Side { self == .initiator ? .responder : .initiator }
    var way: Route { Route(Endpoint(.loopback4, port: UInt16(rawValue + 1))) }
  }

  private var machines: [Host]
  private var links = [ConnectionID(0), ConnectionID(0)]
  private(set) var now = Instant.zero
  private(set) var messages = 0
  private(set) var datagrams = 0
  private var buffer: [UInt8] = []

  init() {
    machines = [1, 2].map { number in
      Host(SessionCarom.peer(number), seats: 1, secret: HostSecret(low: 1, high: 2))
    }
    links[0] = machines[0].makeConnectionID()
    machines[0].connect(
      links[0], to: [Side.responder.way], key: ConnectionKey(prefix: 3, rest: 4), at: now)
  }

  /// Lets everything be said until nothing is owed.
  mutating func settle() {
    for _ in 1...20 {
      while pass(from: .initiator) + pass(from: .responder) > 0 { continue }
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
      bytes.span, on: 0, options, to: links[side.rawValue], at: now)
  }

  /// Carries what one side has to say to the other; how many bytes that were.
  @discardableResult
  mutating func pass(from side: Side) -> Int {
    var count = 0
    handleEvents(of: side.other)
    handleEvents(of: side)
    while let answer = machines[side.rawValue].pollStatelessReply() {
      count += deliver(answer.bytes, from: side)
    }
    while let link = machines[side.rawValue].pollReady() {
      while true {
        buffer.removeAll(keepingCapacity: true)
        guard machines[side.rawValue].pollDatagram(on: link, into: &buffer, at: now) != nil
        else { break }
        count += deliver(buffer, from: side)
      }
      machines[side.rawValue].didFlush(link, at: now)
    }
    return count
  }

  private mutating func deliver(_ bytes: [UInt8], from side: Side) -> Int {
    datagrams += 1
    machines[side.other.rawValue].receiveDatagram(bytes.span, from: side.way, at: now)
    return bytes.count
  }

  /// Grants seats and takes messages.
  private mutating func handleEvents(of side: Side) {
    while let event = machines[side.rawValue].pollEvent() {
      switch event {
      case .requested(let link, _, _): machines[side.rawValue].admit(link, at: now)
      case .connection(let link, .opened): links[side.rawValue] = link
      case .connection(let link, .messages):
        var taken = 0
        while machines[side.rawValue].pollMessage(on: link, { _, _ in taken += 1 }) { continue }
        messages += taken
      default: break
      }
    }
  }
}
