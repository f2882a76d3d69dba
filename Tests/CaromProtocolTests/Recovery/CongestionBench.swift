@testable import CaromProtocol

/// A congestion controller that receives hand-made reports. Times are in milliseconds, rates in
/// bytes per second.
struct CongestionBench {
  enum Phase { case startup, drain, cruise, up, down, probeRoundTrip, compete }

  var controller = CongestionController()
  var now: Int64 = 0
  private var delivered: Int64 = 0

  var phase: Phase {
    switch controller.phase {
    case .startup: .startup
    case .drain: .drain
    case .cruise: .cruise
    case .up: .up
    case .down: .down
    case .probeRoundTrip: .probeRoundTrip
    case .compete: .compete
    }
  }

  /// Handles one acknowledgement, which begins a round unless `isRoundStart` is false.
  mutating func round(
    _ rate: Double = 1e6, roundTrip: Int64 = 100, acknowledged: Int = 1_200, inFlight: Int = 0,
    isAppLimited: Bool = false, isRoundStart: Bool = true
  ) {
    now += roundTrip
    delivered += Int64(acknowledged)
    controller.roundTrip.add(roundTrip * 1_000_000, at: now * 1_000_000)
    controller.handle(
      CongestionController.Report(
        now: now * 1_000_000, roundTrip: roundTrip * 1_000_000,
        sample: DeliveryRate.Sample(
          rate: rate, priorDelivered: controller.rounds.end - (isRoundStart ? 0 : 1),
          isAppLimited: isAppLimited),
        delivered: delivered, acknowledged: acknowledged, inFlight: inFlight))
  }

  /// Handles acknowledgements, each of which begins a round, for as long as the phase stays the
  /// same. Returns their number; the last one changed the phase.
  mutating func leavePhase(_ rate: Double = 1e6, roundTrip: Int64 = 100, most: Int = 100) -> Int {
    let before = phase
    for count in 1...most {
      round(rate, roundTrip: roundTrip)
      if phase != before { return count }
    }
    return most
  }

  /// A controller in its first cruise, on a path of 1 MB/s and 100 ms that has lost no packets.
  static func cruising(roundTrip: Int64 = 100) -> CongestionBench {
    var bench = CongestionBench()
    bench.record(500, lost: 0)
    while bench.phase != .cruise { bench.round(roundTrip: roundTrip) }
    return bench
  }

  /// A controller in the phase `down` that follows a bandwidth probe.
  static func afterProbe() -> CongestionBench {
    var bench = cruising()
    bench.finishCruise()
    return bench
  }

  /// Continues from a cruise through a probe to the phase `down`.
  mutating func finishCruise() {
    while phase == .cruise { round() }
    round()
  }

  /// Records the fates of packets, the lost ones first.
  mutating func record(_ packets: Int, lost: Int, isCalm: Bool = false) {
    for number in 0..<packets { controller.recordFate(isLost: number < lost, isCalm: isCalm) }
  }
}
