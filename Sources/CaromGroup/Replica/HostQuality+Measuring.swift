import CaromCore
import CaromProtocol

extension HostQuality {
  /// Creates the quality of a side from the measurements of all its connections. The worst
  /// connection counts, because the slowest peer holds up a game. Returns nil if no round trip was
  /// measured.
  public init?(_ measurements: [PeerStatistics]) {
    let trips = measurements.compactMap(\.roundTrip)
    guard let slowest = trips.max() else { return nil }
    let worst = measurements.map(\.lossRate).max() ?? 0
    let bandwidths = measurements.map(\.bandwidth).filter { $0 > 0 }
    self.init(
      roundTrip: UInt32(clamping: slowest.wholeNanoseconds / 1_000_000),
      loss: UInt16((min(max(worst, 0), 1) * 1000).rounded()),
      bandwidth: UInt32(min(max(bandwidths.min() ?? 0, 0) / 1000, 4e9)))
  }
}
