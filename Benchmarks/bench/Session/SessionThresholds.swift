import Foundation

/// The most that a session may cost: exact counts, which do not depend on the machine.
struct SessionThresholds: Codable {
  var unreliable: Double
  var reliable: Double
  var nextUnreliable: Double
  var nextReliable: Double
  var acknowledgement: Double
  var answerToHello: Double
  var answerToData: Double
  var answerToForged: Double
  var heldForStrangers: Double
  var blackHole: Double
  var datagramsAt60: Double
  var datagramsAt20: Double
  var allocations: Double

  static func read(_ path: String) throws -> SessionThresholds {
    try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Each count beside what is allowed.
  func counts(of counts: SessionCounts) -> [(what: String, count: Double, limit: Double)] {
    [
      ("bytes of one unreliable message", counts.unreliable, unreliable),
      ("bytes of one reliable message", counts.reliable, reliable),
      ("bytes of another unreliable message", counts.nextUnreliable, nextUnreliable),
      ("bytes of another reliable message", counts.nextReliable, nextReliable),
      ("bytes of an acknowledgement", counts.acknowledgement, acknowledgement),
      ("answered bytes by a stranger's, to a hello", counts.answerToHello, answerToHello),
      ("answered bytes by a stranger's, to data", counts.answerToData, answerToData),
      (
        "answered bytes by a stranger's, to a made-up cookie", counts.answerToForged, answerToForged
      ),
      ("bytes held for strangers", counts.heldForStrangers, heldForStrangers),
      ("datagrams of a tick, both sides, 60 a second", counts.datagramsAt60, datagramsAt60),
      ("datagrams of a tick, both sides, 20 a second", counts.datagramsAt20, datagramsAt20),
      ("time-outs until a black hole is left", counts.hole.timeouts, blackHole),
      ("allocations for a datagram", counts.allocations, allocations),
    ]
  }
}
