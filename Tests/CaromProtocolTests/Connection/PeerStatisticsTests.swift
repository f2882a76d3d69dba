import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct PeerStatisticsTests {
  @Test func `statistics are one line, without what was not measured`() {
    var statistics = PeerStatistics()
    #expect(statistics.description == "no link, none, 0 bytes queued")
    statistics.link = .datagram
    statistics.roundTrip = .microseconds(12_345)
    statistics.packetsSent = 10
    statistics.lossRate = 0.0041
    statistics.bandwidth = 1_250_000
    statistics.bytesQueued = 70
    #expect(
      statistics.description == "udp, none, 12.3 ms, 0.4 % lost, 1250 kB/s, 70 bytes queued")
  }
}
