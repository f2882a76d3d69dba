import AirHockey
import CaromCore
import Foundation

/// The summary of a session, which is printed at its end as a line of text or as JSON.
struct Summary: Encodable, Equatable {
  /// The role of this side: "host", "client", "watcher" (a spectator) or "local".
  var role: String
  /// The other player's name; nil if nobody joined.
  var peer: String?
  /// The last transport of the session, "udp" or "tcp"; nil if nobody joined.
  var transport: String?
  /// The number of simulated ticks.
  var ticks = 0
  /// The number of frames that were displayed, or would have been with a display.
  var frames = 0
  /// The median lateness of ticks, in milliseconds.
  var tickJitterP50 = 0.0
  /// The 99th percentile of the lateness of ticks, in milliseconds.
  var tickJitterP99 = 0.0
  /// The median age of states when they were displayed, in milliseconds.
  var stateAgeP50 = 0.0
  /// The 99th percentile of the age of states when they were displayed, in milliseconds.
  var stateAgeP99 = 0.0
  /// The number of rollbacks; 0 on a host.
  var rollbacks = 0
  /// The largest number of ticks that a rollback simulated again.
  var deepestRollback = 0
  /// The mean distance by which corrections moved the puck, in millimeters.
  var correctionMean = 0.0
  /// The largest distance by which a correction moved the puck, in millimeters.
  var correctionMost = 0.0
  /// The number of ticks that were delayed because the prediction window was exhausted.
  var stalls = 0
  /// The mean number of ticks by which the displayed state was ahead of the confirmed state.
  var gapMean = 0.0
  /// The largest number of ticks by which the displayed state was ahead of the confirmed state.
  var gapMost = 0
  /// The number of inputs that did not reach the host in time: the client's inputs on a host, the
  /// local inputs on a client.
  var lateInputs = 0
  /// The number of desyncs with the host.
  var desyncs = 0
  /// The number of bytes sent in the session's packets.
  var bytesSent = 0
  /// The number of bytes received in the session's packets.
  var bytesReceived = 0
  /// The final score, with home's goals first.
  var score = "0-0"
  /// The number of completed matches.
  var matches = 0
  /// The reason why the session ended.
  var endReason = ""
  /// The paths of the recordings.
  var recordings: [String] = []
  /// The error that ended the recording, or nil if there was none.
  var recordingTrouble: String?
  /// The exit status of the program.
  var status = ExitStatus.success

  init(role: String, peer: String? = nil) {
    self.role = role
    self.peer = peer
  }

  /// Sets the percentiles of both meters.
  mutating func add(tickJitter: JitterMeter, stateAge: JitterMeter) {
    tickJitterP50 = Self.milliseconds(tickJitter.percentile(50))
    tickJitterP99 = Self.milliseconds(tickJitter.percentile(99))
    stateAgeP50 = Self.milliseconds(stateAge.percentile(50))
    stateAgeP99 = Self.milliseconds(stateAge.percentile(99))
  }

  /// Sets the statistics of the network and of the match. If `lateInputs` is nil, as on a client,
  /// the number is taken from `match`.
  mutating func add(_ network: NetworkMeter, _ match: JoinedMatch?, lateInputs: Int?) {
    let (count, sum, most) = network.corrections
    correctionMean = count == 0 ? 0 : (sum / Double(count) * 1e6).rounded() / 1e3
    correctionMost = (most * 1e6).rounded() / 1e3
    gapMean = (network.gap.mean * 100).rounded() / 100
    gapMost = network.gap.most
    self.lateInputs = lateInputs ?? match?.overriddenInputs ?? 0
    guard let match else { return }
    rollbacks = match.statistics.rollbacks
    deepestRollback = match.statistics.deepestRollback
    stalls = match.statistics.stalls
    desyncs = match.desyncs
  }

  /// Returns a duration in milliseconds, rounded to whole microseconds.
  private static func milliseconds(_ duration: Duration) -> Double {
    (duration.inMilliseconds * 1000).rounded() / 1000
  }

  /// The summary as a JSON object on one line. Missing values are null.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let data = (try? encoder.encode(self)) ?? Data()
    return String(decoding: data, as: UTF8.self)
  }

  /// The summary as a line of text.
  var line: String {
    let played = matches == 0 ? "" : " after \(matches) whole \(matches == 1 ? "match" : "matches")"
    let kept = recordings.count > 1 ? "; recorded in \(recordings.joined(separator: ", "))" : ""
    return "\(score) against \(peer ?? "nobody")\(played); \(endReason); \(ticks) ticks, "
      + "late by \(tickJitterP50) ms (half of them), \(tickJitterP99) ms (99 %)\(kept)"
  }
}

extension Summary {
  private enum CodingKeys: String, CodingKey {
    case role, peer, transport, ticks, frames, tickJitterP50, tickJitterP99, stateAgeP50,
      stateAgeP99
    case rollbacks, deepestRollback, correctionMean, correctionMost, lateInputs, stalls, gapMean,
      gapMost, desyncs
    case bytesSent, bytesReceived, score, matches, endReason
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(role, forKey: .role)
    // Writes null for nil, so that every key is present.
    try container.encode(peer, forKey: .peer)
    try container.encode(transport, forKey: .transport)
    try container.encode(ticks, forKey: .ticks)
    try container.encode(frames, forKey: .frames)
    try container.encode(tickJitterP50, forKey: .tickJitterP50)
    try container.encode(tickJitterP99, forKey: .tickJitterP99)
    try container.encode(stateAgeP50, forKey: .stateAgeP50)
    try container.encode(stateAgeP99, forKey: .stateAgeP99)
    try container.encode(rollbacks, forKey: .rollbacks)
    try container.encode(deepestRollback, forKey: .deepestRollback)
    try container.encode(correctionMean, forKey: .correctionMean)
    try container.encode(correctionMost, forKey: .correctionMost)
    try container.encode(lateInputs, forKey: .lateInputs)
    try container.encode(stalls, forKey: .stalls)
    try container.encode(gapMean, forKey: .gapMean)
    try container.encode(gapMost, forKey: .gapMost)
    try container.encode(desyncs, forKey: .desyncs)
    try container.encode(bytesSent, forKey: .bytesSent)
    try container.encode(bytesReceived, forKey: .bytesReceived)
    try container.encode(score, forKey: .score)
    try container.encode(matches, forKey: .matches)
    try container.encode(endReason, forKey: .endReason)
  }
}
