import CaromCore

@testable import CaromProtocol

/// A flow that receives hand-made acknowledgements. Times are in milliseconds.
struct FlowBench {
  var flow: DatagramFlow
  var acknowledged: [FrameRecord] = []
  var lost: [FrameRecord] = []

  /// Creates a flow whose packets have at most `maximumPayload` bytes. `roundTrip` is nil if the
  /// handshake did not measure it.
  init(maximumPayload: Int = 1_200, roundTrip: Int64? = 100) {
    flow = DatagramFlow(
      maximumPayload: maximumPayload, roundTrip: roundTrip.map { $0 * 1_000_000 }, at: .zero)
  }

  /// Sends packets, each with one record that carries the packet's number.
  mutating func send(
    _ count: Int = 1, bytes: Int = 1_000, at time: Double, isAckEliciting: Bool = true
  ) {
    for _ in 0..<count {
      let record = FrameRecord(.reliable, number: flow.nextNumber)
      flow.didSend(
        bytes: bytes, isAckEliciting: isAckEliciting, records: [record], isAppLimited: true,
        at: .at(time))
    }
  }

  @discardableResult
  mutating func acknowledge(_ ranges: ClosedRange<UInt64>..., at time: Double) -> Bool {
    var list = AcknowledgedRanges()
    for range in ranges { list.append(range) }
    return acknowledge(list, at: time)
  }

  /// Acknowledges packets; the peer delayed the acknowledgement by `ackDelay` nanoseconds.
  @discardableResult
  mutating func acknowledge(
    _ list: AcknowledgedRanges, ackDelay: Int64 = 0, at time: Double
  ) -> Bool {
    flow.handle(
      list, ackDelay: ackDelay, at: .at(time), acknowledged: &acknowledged, lost: &lost)
  }

  /// Handles the next timeout and returns whether a probe is due.
  mutating func timeOut() -> Bool {
    guard let deadline = flow.nextTimeout else { return false }
    return flow.handleTimeout(at: deadline, lost: &lost)
  }

  var deadline: Double? { flow.nextTimeout.map { Double($0.nanoseconds) / 1e6 } }
}

extension Instant {
  static func at(_ milliseconds: Double) -> Instant {
    Instant(nanoseconds: Int64(milliseconds * 1e6))
  }
}
