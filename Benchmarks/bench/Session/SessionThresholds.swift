import Foundation

/// The largest allowed costs of a session, in exact counts, which do not depend on the machine.
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
  var heldForIdlePeer: Double
  var blackHole: Double
  var datagramsAt60: Double
  var datagramsAt20: Double
  var allocations: Double
  var encrypted: Encrypted
  /// By the way in which the client gets the seat; see `SessionSeat`.
  var seats: [String: Seat]
  /// Of a server, for each player and tick, without sockets.
  var instructions: Double
  var cacheMisses: Double
  /// Of a server, for each player and tick, over real sockets.
  var datagrams: Turn
  var stream: Turn

  /// The limits of an encrypted session.
  struct Encrypted: Codable {
    var unreliable: Double
    var reliable: Double
    var nextUnreliable: Double
    var acknowledgement: Double
    var heldForIdlePeer: Double
    var allocations: Double
  }

  /// The limits of a seat, until the client knows that it has it.
  struct Seat: Codable {
    var datagrams: Double
    var bytes: Double
  }

  struct Turn: Codable {
    var systemCalls: Double
    var allocations: Double
    var bytes: Double
  }

  static func read(_ path: String) throws -> SessionThresholds {
    try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Returns the counts of a server without sockets, each with its name and its limit.
  func counts(
    of counts: SessionInstructions
  ) -> [(what: String, count: Double, limit: Double)] {
    [
      ("instructions a peer-tick, without sockets", counts.instructions, instructions),
      ("cache misses a peer-tick, without sockets", counts.cacheMisses, cacheMisses),
    ]
  }

  /// Returns the counts of a server over one kind of link, each with its name and its limit.
  func counts(
    of turn: SessionTurnCounts, over link: SessionCarom.Link
  ) -> [(what: String, count: Double, limit: Double)] {
    let limits = link == .stream ? stream : datagrams
    return [
      ("system calls", turn.systemCalls, limits.systemCalls),
      ("heap allocations", turn.allocations, limits.allocations),
      ("bytes", turn.bytes, limits.bytes),
    ].map { ("\($0.0) a peer-tick over \(link.protocolName)", $0.1, $0.2) }
  }

  /// Returns each count with its name and its limit.
  func counts(of counts: SessionCounts) -> [(what: String, count: Double, limit: Double)] {
    [
      ("bytes of one unreliable message", counts.unreliable, unreliable),
      ("bytes of one reliable message", counts.reliable, reliable),
      ("bytes of another unreliable message", counts.nextUnreliable, nextUnreliable),
      ("bytes of another reliable message", counts.nextReliable, nextReliable),
      ("bytes of an acknowledgement", counts.acknowledgement, acknowledgement),
      ("bytes answered for each byte received, to a hello", counts.answerToHello, answerToHello),
      (
        "bytes answered for each byte received, to a data packet", counts.answerToData, answerToData
      ),
      (
        "bytes answered for each byte received, to a forged cookie", counts.answerToForged,
        answerToForged
      ),
      ("bytes of memory held for unvalidated addresses", counts.heldForStrangers, heldForStrangers),
      ("bytes of memory held for an idle peer", counts.heldForIdlePeer, heldForIdlePeer),
      ("datagrams a tick from both sides, at 60 Hz", counts.datagramsAt60, datagramsAt60),
      ("datagrams a tick from both sides, at 20 Hz", counts.datagramsAt20, datagramsAt20),
      ("time-outs until the sender leaves a black hole", counts.blackHole.timeouts, blackHole),
      ("heap allocations for each datagram", counts.allocations, allocations),
    ]
      + encryptedCounts(of: counts.encrypted) + seatCounts(of: counts.encrypted)
  }

  /// Returns the counts of each way to a seat. One without a limit fails.
  private func seatCounts(
    of counts: SessionEncryptedCounts
  ) -> [(what: String, count: Double, limit: Double)] {
    counts.seats.flatMap { seat, count in
      let limit = seats[seat.rawValue]
      return [
        ("datagrams until a seat, \(seat.rawValue)", count.datagrams, limit?.datagrams ?? .nan),
        ("bytes until a seat, \(seat.rawValue)", count.bytes, limit?.bytes ?? .nan),
      ]
    }
  }

  private func encryptedCounts(
    of counts: SessionEncryptedCounts
  ) -> [(what: String, count: Double, limit: Double)] {
    [
      ("bytes of one unreliable message", counts.unreliable, encrypted.unreliable),
      ("bytes of one reliable message", counts.reliable, encrypted.reliable),
      ("bytes of another unreliable message", counts.nextUnreliable, encrypted.nextUnreliable),
      ("bytes of an acknowledgement", counts.acknowledgement, encrypted.acknowledgement),
      ("bytes of memory held for an idle peer", counts.heldForIdlePeer, encrypted.heldForIdlePeer),
      ("heap allocations for each datagram", counts.allocations, encrypted.allocations),
    ].map { ("encrypted: \($0.0)", $0.1, $0.2) }
  }
}
