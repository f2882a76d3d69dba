import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct DatagramPathTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)
  private let route = Route(Endpoint(.loopback4, port: 1_000))

  /// An initiator's path whose round-trip time is known.
  private func makeMeasuredPath() -> DatagramPath {
    let path = DatagramPath.initiating([route], key: key, at: now)
    path.handleRetry(Retry(cookie: Cookie(bits: 1)!, keyPrefix: key.prefix), from: route, at: now)
    path.flow.didSend(bytes: 100, isAckEliciting: true, records: [], isAppLimited: true, at: now)
    var (acknowledged, lost): ([FrameRecord], [FrameRecord]) = ([], [])
    var ranges = AcknowledgedRanges()
    ranges.append(0...0)
    _ = path.flow.handle(
      ranges, ackDelay: 0, at: now + .milliseconds(20), acknowledged: &acknowledged, lost: &lost)
    return path
  }

  @Test func `an initiator that connects again discards the measurements of the old path`() {
    let path = makeMeasuredPath()
    #expect(path.flow.roundTrip.hasSample)
    let other = Route(Endpoint(.loopback4, port: 2_000))
    path.reconnect([other], at: now)
    path.handleRetry(Retry(cookie: Cookie(bits: 2)!, keyPrefix: key.prefix), from: other, at: now)
    #expect(!path.flow.roundTrip.hasSample)
    #expect(path.flow.nextNumber == 1)
  }

  @Test func `an initiator whose address has changed discards the measurements of the old path`() {
    let path = makeMeasuredPath()
    // A new cookie during the validation does not mean that an address has changed.
    path.handleRetry(Retry(cookie: Cookie(bits: 2)!, keyPrefix: nil), from: route, at: now)
    #expect(path.flow.roundTrip.hasSample)
    path.stage = .validated
    path.handleRetry(Retry(cookie: Cookie(bits: 3)!, keyPrefix: nil), from: route, at: now)
    #expect(!path.flow.roundTrip.hasSample)
  }
}
