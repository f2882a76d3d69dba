import Carom

/// A path of 20 Mbit/s and 100 ms there and back, on virtual time, that from some time on swallows
/// whatever is longer than 1,260 bytes: how long bulk takes to find out.
struct SessionHole {
  /// Milliseconds from the first packet that was swallowed until 1,200 bytes were the length.
  private(set) var milliseconds = Double.nan
  /// The same in the sender's own time-outs at the beginning: a smoothed round trip and four times
  /// its variation (RFC 6298).
  private(set) var timeouts = Double.nan
  /// Megabits a second that came in the five seconds after it.
  private(set) var goodput = Double.nan
  private(set) var isOpen = false

  private static let oneWay = Duration.milliseconds(50)
  private static let bytesEachMillisecond = 2_500.0
  private static let queueLimit = 250_000
  private static let hole = 1_260

  private struct Flight {
    var arrives: Instant
    var bytes: [UInt8]
    var toHost: Bool
  }

  private let ways = [Route(Endpoint(.loopback4, port: 1)), Route(Endpoint(.loopback4, port: 2))]
  private var machines: [Host]
  private var link = ConnectionID(0)
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var flights: [Flight] = []
  private var freeAt = [Instant.zero, Instant.zero]
  private var hasHole = false
  private var swallowedAt: Instant?
  private var arrived = 0

  init() {
    machines = [1, 2].map { number in
      Host(SessionCarom.peer(number), seats: 1, secret: HostSecret(low: 1, high: 2))
    }
    link = machines[1].makeConnectionID()
    machines[1].connect(link, to: [ways[0]], key: ConnectionKey(prefix: 3, rest: 4), at: now)
    measure()
  }

  private mutating func measure() {
    run(for: .seconds(5)) { _ in false }
    guard let before = machines[1].statistics(of: link), before.packetSize > Self.hole,
      let roundTrip = before.roundTrip, let variation = before.variation
    else { return }
    hasHole = true
    run(for: .seconds(10)) { run in
      run.machines[1].statistics(of: run.link)?.packetSize ?? 0 <= 1_200
    }
    guard let swallowedAt, machines[1].statistics(of: link)?.packetSize == 1_200 else { return }
    let time = now - swallowedAt
    milliseconds = time / .milliseconds(1)
    timeouts = time / (roundTrip + variation * 4)
    let first = arrived
    run(for: .seconds(5)) { _ in false }
    goodput = Double(arrived - first) * 8 / 5e6
    isOpen = machines[1].isOpen(link)
  }

  private mutating func run(for duration: Duration, until isDone: (SessionHole) -> Bool) {
    let end = now.advanced(by: duration)
    while now < end, !isDone(self) {
      offer()
      exchange()
      let due = [flights.map(\.arrives).min(), machines[0].nextTimeout, machines[1].nextTimeout]
      let next = due.compactMap { $0 }.min() ?? end
      now = min(end, max(next, now.advanced(by: .microseconds(10))))
      deliver()
      for index in machines.indices { machines[index].handleTimeout(at: now) }
    }
  }

  private mutating func offer() {
    guard machines[1].isOpen(link) else { return }
    let message = [UInt8](repeating: 7, count: 16_384)
    while machines[1].queuedBytes(of: link) < 1 << 20 {
      let options = SendOptions(.reliableOrdered)
      guard (try? machines[1].send(message.span, on: 0, options, to: link, at: now)) != nil
      else { return }
    }
  }

  private mutating func deliver() {
    let due = flights.filter { $0.arrives <= now }
    flights.removeAll { $0.arrives <= now }
    for flight in due {
      let (to, from) = flight.toHost ? (0, 1) : (1, 0)
      machines[to].receiveDatagram(flight.bytes.span, from: ways[from], at: now)
    }
  }

  private mutating func exchange() {
    for index in machines.indices {
      while let event = machines[index].pollEvent() {
        switch event {
        case .requested(let link, _, _): machines[index].admit(link, at: now)
        case .connection(let link, .messages):
          var count = 0
          while machines[index].pollMessage(on: link, { _, bytes in count += bytes.count }) {}
          arrived += count
        default: break
        }
      }
      while let answer = machines[index].pollStatelessReply() { carry(answer.bytes, from: index) }
      while let link = machines[index].pollReady() {
        var bytes: [UInt8] = []
        while machines[index].pollDatagram(on: link, into: &bytes, at: now) != nil {
          carry(bytes, from: index)
          bytes = []
        }
        machines[index].didFlush(link, at: now)
      }
    }
  }

  private mutating func carry(_ bytes: [UInt8], from index: Int) {
    if hasHole, bytes.count > Self.hole {
      if swallowedAt == nil { swallowedAt = now }
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
