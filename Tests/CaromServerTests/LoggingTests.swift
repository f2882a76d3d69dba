import CaromCore
import CaromProtocol
import CaromSession
import Logging
import Testing

@testable import CaromServer

@Suite struct LoggingTests {
  /// The level and text of each event, and the metadata other than the peer's own.
  private static func lines(
    of peer: Peer
  ) -> [(event: PeerEvent, level: Logger.Level, text: String, details: Logger.Metadata)] {
    [
      (.joined(peer), .info, "peer joined", ["protection": "\(peer.protection)"]),
      (.left(peer, .kicked("spam")), .info, "peer left", ["reason": "kicked: spam"]),
      (.left(peer, .timedOut), .info, "peer left", ["reason": "\(DisconnectReason.timedOut)"]),
      (.interrupted(peer), .notice, "peer interrupted", [:]),
      (.resumed(peer), .debug, "peer resumed", [:]),
      (.linkChanged(peer, .datagram), .debug, "peer's link changed", ["link": "udp"]),
      (.linkChanged(peer, .stream), .debug, "peer's link changed", ["link": "tcp"]),
      (.inputStopped(peer, channel: 7), .notice, "peer's input stopped", ["channel": "7"]),
      (.inputResumed(peer, channel: 63), .debug, "peer's input resumed", ["channel": "63"]),
    ]
  }

  /// Session.log: the metadata contains a peer's id, name and kind of link, but never its address.
  @Test(arguments: [false, true])
  func `each event has its level, its text, its peer and its details`(isSpectator: Bool) async {
    let info = makePeer("Ada", isSpectator: isSpectator)
    let own: Logger.Metadata = [
      "peer.id": "\(info.id)", "peer.name": "Ada", "peer.spectator": "\(isSpectator)",
    ]
    await withPeer(info) { peer in
      for line in Self.lines(of: peer) {
        #expect(line.event.logLevel == line.level, "\(line.text)")
        #expect(line.event.logText == line.text)
        #expect(line.event.metadata == own.merging(line.details) { $1 }, "\(line.text)")
      }
    }
  }
}
