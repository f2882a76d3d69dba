import AirHockey
import CaromCore
import Foundation
import TerminalText

/// The summary of a session, which is printed at its end as a line of text or as JSON.
struct Summary: Encodable, Equatable {
  /// The reason of a game that ended because its output has lost its reader.
  static let outputLost = "the output has no reader"

  /// The role of this side: "host", "table" (a host whose clients play each other), "tables" (a
  /// host with several of these), "client", "watcher" (a spectator) or "local".
  var role: String
  /// The other player's name or, on a side that does not play, the home player's; nil if nobody
  /// joined.
  var peer: String?
  /// The away player's name, on a side that does not play.
  var watchedClient: String?
  /// The last transport of the session, "udp" or "tcp"; nil if nobody joined.
  var transport: String?
  /// The policy of the session: "none", "anyone", "known", "code" or "token".
  var security = "none"
  /// The cipher of the last connection; nil if there was none, or it was in plaintext.
  var cipher: String?
  /// The words of the last opponent's key; nil if it has proven none.
  var fingerprint: String?
  /// The number of simulated ticks.
  var ticks = 0
  /// The number of frames that were displayed, or would have been with a display.
  var frames = 0
  var timing = Timing()
  var prediction = Prediction()
  /// The number of bytes sent in the session's packets.
  var bytesSent = 0
  /// The number of bytes received in the session's packets.
  var bytesReceived = 0
  /// The final score, with home's goals first.
  var score = Score()
  /// The number of completed games, each of which one side has won.
  var games = 0
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

  /// The summary as a JSON object on one line. Missing values are null.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let data = (try? encoder.encode(self)) ?? Data()
    return String(decoding: data, as: UTF8.self)
  }

  /// The score with this player's goals first. On a side that does not play, home's goals come
  /// first.
  private var result: String {
    if role == "tables" { return "the tables are closed" }
    guard let peer else { return "\(score) against nobody" }
    return switch role {
    case "client": "\(score.mirrored) against \(peer)"
    case "watcher", "table": "\(peer) \(score) against \(watchedClient ?? "the opponent")"
    default: "\(score) against \(peer)"
    }
  }

  /// The reason why the session ended, in words.
  private var end: String {
    switch endReason {
    case "timedOut": "the connection timed out"
    case "connectionReset", "connectionLost": "the connection was lost"
    case "protocolViolation": "the other side sent an invalid message"
    default: endReason
    }
  }

  /// The summary as a line of text.
  var line: String {
    let played = games == 0 ? "" : " after \(games) whole \(games == 1 ? "game" : "games")"
    let kept = recordings.count > 1 ? "; recorded in \(recordings.joined(separator: ", "))" : ""
    let late = "\(timing.tickJitterP50) ms (median), \(timing.tickJitterP99) ms (99th percentile)"
    return "\(result)\(played); \(end); \(ticks) ticks, late by \(late)\(kept)"
  }
}

// MARK: - JSON

extension Summary {
  private enum CodingKeys: String, CodingKey {
    case role, peer, transport, security, cipher, fingerprint, ticks, frames, bytesSent
    case bytesReceived, score, games, matches, endReason
  }

  /// Encodes the summary as one flat object, into which the values of `timing` and `prediction` are
  /// merged. The recordings and the exit status are left out.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(role, forKey: .role)
    // Writes null for nil, so that every key is present.
    try container.encode(peer, forKey: .peer)
    try container.encode(transport, forKey: .transport)
    try container.encode(security, forKey: .security)
    try container.encode(cipher, forKey: .cipher)
    try container.encode(fingerprint, forKey: .fingerprint)
    try container.encode(ticks, forKey: .ticks)
    try container.encode(frames, forKey: .frames)
    try timing.encode(to: encoder)
    try prediction.encode(to: encoder)
    try container.encode(bytesSent, forKey: .bytesSent)
    try container.encode(bytesReceived, forKey: .bytesReceived)
    try container.encode(score.description, forKey: .score)
    try container.encode(games, forKey: .games)
    // The name that this number had before matches of a fleet were called so.
    try container.encode(games, forKey: .matches)
    try container.encode(endReason, forKey: .endReason)
  }
}
