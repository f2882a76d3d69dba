import AirHockey
import CaromCore
import Foundation

/// What a session came to, for people and for machines.
struct Summary: Encodable, Equatable {
  /// "host", "client", "watcher" or "local".
  var role: String
  /// The other player's name; `nil` where nobody came.
  var peer: String?
  /// What carried the session last: "udp" or "tcp"; `nil` where nobody came.
  var transport: String?
  /// Steps that were simulated.
  var ticks = 0
  /// States that were shown, or would have been.
  var frames = 0
  /// How late ticks came, in milliseconds: half of them less than this.
  var tickJitterP50 = 0.0
  /// How late ticks came: 99 of 100 less than this.
  var tickJitterP99 = 0.0
  /// How old a state was when it was shown, in milliseconds.
  var stateAgeP50 = 0.0
  /// How old a state was when it was shown: 99 of 100 less than this.
  var stateAgeP99 = 0.0
  /// How often the foretold match was corrected; 0 at a host.
  var rollbacks = 0
  /// The deepest correction, ticks.
  var deepestRollback = 0
  /// By how much corrections moved the puck on average, millimetres.
  var correctionMean = 0.0
  /// The most that one moved it, millimetres.
  var correctionMost = 0.0
  /// Ticks that waited for the host's word because too much was foretold.
  var stalls = 0
  /// By how many ticks the state that was shown ran ahead of what was decided, on average.
  var gapMean = 0.0
  /// By how many at most.
  var gapMost = 0
  /// Inputs that were not there in time: the guest's, or one's own.
  var lateInputs = 0
  /// How often this end was not in step with the host.
  var desyncs = 0
  /// Bytes of the session's packets.
  var bytesSent = 0
  /// Bytes of the session's packets.
  var bytesReceived = 0
  /// Home's goals first.
  var score = "0-0"
  /// Matches that were played to their end.
  var matches = 0
  /// Why it ended.
  var endReason = ""
  /// Where it was recorded.
  var recordings: [String] = []
  /// Why it was not, or not to the end.
  var recordingTrouble: String?
  /// How the program ends.
  var status = ExitStatus.success

  init(role: String, peer: String? = nil) {
    self.role = role
    self.peer = peer
  }

  /// Takes over the percentiles of both meters.
  mutating func take(tickJitter: JitterMeter, stateAge: JitterMeter) {
    tickJitterP50 = Self.milliseconds(tickJitter.percentile(50))
    tickJitterP99 = Self.milliseconds(tickJitter.percentile(99))
    stateAgeP50 = Self.milliseconds(stateAge.percentile(50))
    stateAgeP99 = Self.milliseconds(stateAge.percentile(99))
  }

  /// Takes over what the network did to the match.
  mutating func take(_ network: NetworkMeter, _ match: JoinedMatch?, lateInputs: Int?) {
    let (count, sum, most) = network.corrections
    correctionMean = count == 0 ? 0 : (sum / Double(count) * 1e6).rounded() / 1e3
    correctionMost = (most * 1e6).rounded() / 1e3
    gapMean = (network.gap.mean * 100).rounded() / 100
    gapMost = network.gap.most
    self.lateInputs = lateInputs ?? match?.overruled ?? 0
    guard let match else { return }
    rollbacks = match.statistics.rollbacks
    deepestRollback = match.statistics.deepestRollback
    stalls = match.statistics.stalls
    desyncs = match.desyncs
  }

  /// Whole microseconds, as milliseconds.
  private static func milliseconds(_ duration: Duration) -> Double {
    (duration.inMilliseconds * 1000).rounded() / 1000
  }

  /// One object on one line; a peer that never came is null.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let data = (try? encoder.encode(self)) ?? Data()
    return String(decoding: data, as: UTF8.self)
  }

  /// One line for people.
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
    // Null rather than left out, so that every key is always there.
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
