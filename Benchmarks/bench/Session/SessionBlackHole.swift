import Carom

/// A bulk transfer over a path, on virtual time, that becomes a black hole: from some time on it
/// drops every packet longer than 1,260 bytes. The path has 20 Mbit/s and a round trip of 100 ms.
/// Measures how long the sender takes to notice.
struct SessionBlackHole {
  /// The milliseconds from the first dropped packet until the sender's packet size is 1,200 bytes.
  private(set) var milliseconds = Double.nan
  /// The same time, divided by the sender's retransmission time-out before the black hole: a
  /// smoothed round trip and four times its variation (RFC 6298).
  private(set) var timeouts = Double.nan
  /// The goodput in the five seconds after the recovery, in Mbit/s.
  private(set) var goodput = Double.nan
  private(set) var isOpen = false

  private static let oneWay = Duration.milliseconds(50)
  private static let bytesEachMillisecond = 2_500.0
  private static let queueLimit = 250_000
  private static let largestDelivered = 1_260

  private struct Flight {
    var arrives: Instant
    var bytes: [UInt8]
    var toHost: Bool
  }

  private let routes = [Route(Endpoint(.loopback4, port: 1)), Route(Endpoint(.loopback4, port: 2))]
  private var machines: [Host]
  private var connection = ConnectionID(0)
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var flights: [Flight] = []
  private var freeAt = [Instant.zero, Instant.zero]
  private var isBlackHole = false
  private var firstDropAt: Instant?
  private var arrived = 0

  init() {
    machines = [1, 2].map { number in
      Host(SessionCarom.peer(number), seats: 1, secret: HostSecret(low: 1, high: 2))
    }
    connection = machines[1].makeConnectionID()
    machines[1].connect(
      connection, to: [routes[0]], key: ConnectionKey(prefix: 3, rest: 4), at: now)
    measure()
  }

  private mutating func measure() {
    run(for: .seconds(5)) { _ in false }
    guard let before = machines[1].statistics(of: connection),
      before.packetSize > Self.largestDelivered,
      let roundTrip = before.roundTrip, let variation = before.variation
    else { return }
    isBlackHole = true
    run(for: .seconds(10)) { run in
      run.machines[1].statistics(of: run.connection)?.packetSize ?? 0 <= 1_200
    }
    guard let firstDropAt, machines[1].statistics(of: connection)?.packetSize == 1_200 else {
      return
    }
    let time = now - firstDropAt
    milliseconds = time / .milliseconds(1)
    timeouts = time / (roundTrip + variation * 4)
    let first = arrived
    run(for: .seconds(5)) { _ in false }
    goodput = Double(arrived - first) * 8 / 5e6
    isOpen = machines[1].isOpen(connection)
  }

  private mutating func run(for duration: Duration, until isDone: (SessionBlackHole) -> Bool) {
    let end = now.advanced(by: duration)
    while now < end, !isDone(self) {
      queueBulk()
      exchange()
      let due = [flights.map(\.arrives).min(), machines[0].nextTimeout, machines[1].nextTimeout]
      let next = due.compactMap { $0 }.min() ?? end
      now = min(end, max(next, now.advanced(by: .microseconds(10))))
      deliver()
      for index in machines.indices { machines[index].handleTimeout(at: now) }
    }
  }

  private mutating func queueBulk() {
    guard machines[1].isOpen(connection) else { return }
    let message = [UInt8](repeating: 7, count: 16_384)
    while machines[1].queuedBytes(of: connection) < 1 << 20 {
      let options = SendOptions(.reliableOrdered)
      guard (try? machines[1].send(message.span, on: 0, options, to: connection, at: now)) != nil
      else { return }
    }
  }

  private mutating func deliver() {
    let due = flights.filter { $0.arrives <= now }
    flights.removeAll { $0.arrives <= now }
    for flight in due {
      let (to, from) = flight.toHost ? (0, 1) : (1, 0)
      machines[to].receiveDatagram(flight.bytes.span, from: routes[from], at: now)
    }
  }

  private mutating func exchange() {
    for index in machines.indices {
      while let event = machines[index].pollEvent() {
        switch event {
        case .requested(let connection, _, _): machines[index].admit(connection, at: now)
        case .connection(let connection, .messages):
          var count = 0
          while machines[index].pollMessage(on: connection, { _, bytes in count += bytes.count }) {}
          arrived += count
        default: break
        }
      }
      while let answer = machines[index].pollStatelessReply() { forward(answer.bytes, from: index) }
      while let connection = machines[index].pollReady() {
        var bytes: [UInt8] = []
        while machines[index].pollDatagram(on: connection, into: &bytes, at: now) != nil {
          forward(bytes, from: index)
          bytes = []
        }
        machines[index].didFlush(connection, at: now)
      }
    }
  }

  private mutating func forward(_ bytes: [UInt8], from index: Int) {
    if isBlackHole, bytes.count > Self.largestDelivered {
      if firstDropAt == nil { firstDropAt = now }
      return
    }
    let begin = max(freeAt[index], now)
    let waiting = (begin - now) / .milliseconds(1) * Self.bytesEachMillisecond
    guard waiting < Double(Self.queueLimit) else { return }
    let length = Double(bytes.count + 28) / Self.bytesEachMillisecond * 1e6
    freeAt[index] = begin.advanced(by: .nanoseconds(Int64(length)))
    flights.append(
      Flight(arrives: freeAt[index].advanced(by: Self.oneWay), bytes: bytes, toHost: index == 1))
  }
}
