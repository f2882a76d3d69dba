import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// Pings, pongs and what is measured with them (WireFormat, "The life of a connection", step 3).
@Suite struct PingTests {
  private let now = Instant(nanoseconds: 100_000_000_000)

  /// A responder on a stream, whose connection is open, and the bytes that it has sent.
  private func makeResponder(silenceLimit: Duration = .seconds(60)) -> (Connection, [UInt8]) {
    var timing = SessionTiming.withoutResuming
    timing.silenceLimit = silenceLimit
    var host = Connection.openResponder(timing: timing, at: now)
    let sent = host.pollStream(queued: 0, at: now) ?? []
    return (host, sent)
  }

  private func ping(at time: Instant) -> [UInt8] {
    ControlPacket.ping(sent: UInt64(bitPattern: time.nanoseconds)).packet.framed()
  }

  @Test func `a ping follows the grant, then eight at 100 ms, then one per second`() {
    var (host, first) = makeResponder()
    let grant = ControlPacket.grant(version: 2, makePeer(1)).packet.framed()
    #expect(first == grant + ping(at: now))
    var times: [Int] = []
    while let due = host.nextTimeout, due <= now + .seconds(4) {
      host.handleTimeout(at: due)
      guard let bytes = host.pollStream(queued: 0, at: due) else { continue }
      #expect(bytes == ping(at: due))
      times.append(Int((due - now).inMilliseconds))
    }
    #expect(times == [100, 200, 300, 400, 500, 600, 700, 800, 1_800, 2_800, 3_800])
  }

  /// The times in milliseconds at which a responder pings from the ninth ping on, up to 10 s, if
  /// pings arrive at the given times.
  private func findPings(whenPinged arrivals: [Int]) -> [Int] {
    var (host, _) = makeResponder()
    var arrivals = arrivals[...]
    var times: [Int] = []
    while let due = host.nextTimeout {
      let arrival = arrivals.first.map { now + .milliseconds($0) }
      let next = min(due, arrival ?? due)
      guard next <= now + .seconds(10) else { break }
      if next == arrival {
        host.receive(ping(at: next).span, at: next)
        _ = host.pollStream(queued: 0, at: next)
        arrivals.removeFirst()
      } else {
        host.handleTimeout(at: next)
        guard host.pollStream(queued: 0, at: next) == ping(at: next) else { continue }
        times.append(Int((next - now).inMilliseconds))
      }
    }
    return Array(times.dropFirst(7))
  }

  @Test func `a responder pings every four seconds while pings arrive`() {
    #expect(
      findPings(whenPinged: Array(stride(from: 900, through: 9_900, by: 1_000))) == [
        800, 4_800, 8_800,
      ])
  }

  @Test func `a responder pings 1.25 s after the last ping that arrived, and then each second`() {
    #expect(
      findPings(whenPinged: [1_000, 2_000, 3_000]) == [
        800, 4_250, 5_250, 6_250, 7_250, 8_250, 9_250,
      ])
  }

  @Test func `the first pings do not wait for those that arrive`() {
    #expect(
      findPings(whenPinged: [10, 110, 210, 310, 410, 510, 610, 710])
        == [800, 1_800, 2_800, 3_800, 4_800, 5_800, 6_800, 7_800, 8_800, 9_800])
  }

  @Test func `an initiator pings each second, whatever arrives`() {
    var pair = ConnectionPair.opened()
    pair.run(for: .milliseconds(900))
    let (before, beforeAtHost) = (pair.clientEvents.count, pair.hostEvents.count)
    pair.run(for: .seconds(40))
    #expect(pair.clientEvents.count - before == 40)
    #expect(pair.hostEvents.count - beforeAtHost == 10)
  }

  @Test func `a ping is answered with its number and the clock, on the link that it came on`()
    throws
  {
    var host = Connection.responding(
      to: Hello(key: ConnectionKey(prefix: 1, rest: 2), epoch: 1, resumes: false, cookie: nil),
      from: DatagramPair.clientRoute, as: LocalSide(makePeer(1)), at: now)
    host.receiveDatagram(DataPacket.encode(0, [.ping]).span, at: now)
    host.adoptStream(StreamPath(limit: 4_096), of: makePeer(2), at: now)
    host.admit(at: now)
    _ = host.pollStream(queued: 0, at: now)
    _ = pollDatagrams(&host, at: now)
    #expect(host.link == .datagram)
    let later = now + .milliseconds(5)
    host.receive(ControlPacket.ping(sent: 77).packet.framed().span, at: later)
    let clock = UInt64(bitPattern: later.nanoseconds)
    #expect(
      host.pollStream(queued: 0, at: later)
        == ControlPacket.pong(sent: 77, clock: clock).packet.framed())
    var packets = pollDatagrams(&host, at: later)
    #expect(packets.flatMap(\.controls) == [])
    let frame = FrameValue.message(.unreliable, 64, 0, ControlPacket.ping(sent: 78).packet.encoded)
    host.receiveDatagram(DataPacket.encode(1, [frame]).span, at: later)
    packets = pollDatagrams(&host, at: later)
    #expect(packets.flatMap(\.controls) == [.pong(sent: 78, clock: clock)])
    #expect(host.pollStream(queued: 0, at: later) == nil)
  }

  @Test(
    arguments: [
      (0, true), (5_000_000, true), (60_000_000_000, true), (60_000_000_001, false), (-1, false),
    ] as [(Int64, Bool)])
  func `a pong counts if its ping is not in the future and not older than a minute`(
    age: Int64, counts: Bool
  ) {
    var (host, _) = makeResponder()
    _ = pollEvents(&host)
    let sent = UInt64(bitPattern: now.nanoseconds - age)
    host.receive(ControlPacket.pong(sent: sent, clock: 0).packet.framed().span, at: now)
    #expect(host.roundTrip.latest == (counts ? .nanoseconds(age) : nil))
    let measured = pollEvents(&host)
    #expect(measured == (counts ? [.measured(host.roundTrip)] : []))
    #expect(host.isOpen)
  }

  /// Adds a sample with a symmetric path and the given offset of the peer's clock.
  private func add(_ roundTrip: Duration, _ offset: Duration, to measurement: inout RoundTrip) {
    measurement.add(sent: now, remote: now + roundTrip / 2 + offset, now: now + roundTrip)
  }

  @Test func `the round trip is smoothed with a gain of an eighth`() {
    var measurement = RoundTrip()
    #expect(measurement.smoothed == nil && measurement.latest == nil)
    add(.milliseconds(80), .zero, to: &measurement)
    #expect(measurement.smoothed == .milliseconds(80))
    add(.milliseconds(160), .zero, to: &measurement)
    #expect(measurement.smoothed == .milliseconds(90))
    #expect(measurement.latest == .milliseconds(160))
    add(.milliseconds(10), .zero, to: &measurement)
    #expect(measurement.smoothed == .milliseconds(80))
    measurement.add(sent: now, remote: now, now: now + .nanoseconds(-1))
    #expect(measurement.latest == .milliseconds(10), "a negative round trip is no sample")
  }

  @Test func `the clock offset is that of the fastest of the last eight samples`() {
    var measurement = RoundTrip()
    #expect(measurement.clockOffset == nil)
    add(.milliseconds(80), .seconds(5), to: &measurement)
    add(.milliseconds(160), .seconds(-6), to: &measurement)
    for _ in 3...8 { add(.milliseconds(200), .seconds(7), to: &measurement) }
    #expect(measurement.clockOffset == .seconds(5))
    add(.milliseconds(200), .seconds(7), to: &measurement)
    #expect(measurement.clockOffset == .seconds(-6))
    add(.milliseconds(200), .seconds(7), to: &measurement)
    #expect(measurement.clockOffset == .seconds(7))
    add(.milliseconds(40), .seconds(8), to: &measurement)
    #expect(measurement.clockOffset == .seconds(8))
  }

  @Test func `a peer is lost 4 s after the last byte on any link, and not earlier`() {
    var (host, _) = makeResponder(silenceLimit: SessionTiming().silenceLimit)
    _ = pollEvents(&host)
    let last = now + .milliseconds(1_500)
    host.receive([0].span, at: last)  // a part of a length
    host.handleTimeout(at: last + .seconds(4) + .nanoseconds(-1))
    #expect(host.isOpen)
    host.handleTimeout(at: last + .seconds(4))
    #expect(pollEvents(&host) == [.closed(.timedOut)])
  }
}
