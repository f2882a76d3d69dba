import CaromCore

/// Why an answer of a Redis server is of no use.
package enum RedisAnswerError: Error, Hashable, Sendable {
  /// The server could not carry out the command, and says why.
  case failed(message: String)
  /// The answer is not what the function gives.
  case malformed(DecodeError)
}

/// The answers of a Redis server to the commands of a fleet's directory.
///
/// An answer is an array: a word, and what belongs to it.
package enum RedisAnswer {
  /// Reads the answer to a command.
  package static func decode(
    _ value: RESPValue, to command: DirectoryCommand
  ) throws(RedisAnswerError) -> DirectoryAnswer {
    if case .error(let text) = value {
      throw .failed(message: String(decoding: text, as: UTF8.self))
    }
    do throws(DecodeError) {
      let items = try RedisItems(value)
      return try answer(try items.text(0), items, to: command)
    } catch {
      throw .malformed(error)
    }
  }

  private static func answer(
    _ word: String, _ items: RedisItems, to command: DirectoryCommand
  ) throws(DecodeError) -> DirectoryAnswer {
    switch word {
    case "done": return .done
    case "unknownHost": return .unknownHost
    case "replaced": return .replaced
    case "identityInUse": return .notRegistered(.identityInUse)
    case "otherKey": return .notRegistered(.otherKey)
    case "noSeat": return .noSeat
    case "outdated": return .outdated
    case "placed": return .placed(try items.placement(from: 1))
    case "superseded":
      return .superseded(items.count == 1 ? nil : try items.placement(from: 1))
    case "refused": return .refused(try refusal(try items.text(1)))
    case "orphaned": return .orphaned
    case "over": return .over(result: try items.bytes(1))
    case "resumed":
      return .resumed(try checkpoint(try items.items(1)), players: try players(try items.items(2)))
    case "renewed": return try renewal(items, to: command)
    case "registered": return try registration(items, to: command)
    case "doors": return .doors(try doors(try items.items(1)))
    case "status": return .status(try status(items))
    default: throw .invalid(what: "answer of a directory")
    }
  }

  private static func refusal(_ word: String) throws(DecodeError) -> PlacementRefusal {
    switch word {
    case "noRoom": .noRoom
    case "noSuchVersion": .noSuchVersion
    case "otherVersion": .otherVersion
    case "matchIsOver": .matchIsOver
    case "unknownMatch": .unknownMatch
    case "tooManyPlayers": .tooManyPlayers
    case "otherKey": .otherKey
    default: throw .invalid(what: "refusal of a directory")
    }
  }

  private static func checkpoint(_ items: RedisItems) throws(DecodeError) -> Checkpoint? {
    guard items.count > 0 else { return nil }
    guard let checkpoint = Checkpoint(tick: try items.number(0), state: try items.bytes(1)) else {
      throw .invalid(what: "checkpoint")
    }
    return checkpoint
  }

  private static func players(
    _ items: RedisItems, from first: Int = 0
  ) throws(DecodeError) -> [PeerID] {
    var players: [PeerID] = []
    for index in first..<max(first, items.count) { players.append(try items.peer(index)) }
    return players
  }

  private static func renewal(
    _ items: RedisItems, to command: DirectoryCommand
  ) throws(DecodeError) -> DirectoryAnswer {
    guard case .host(_, let sender) = command else { throw .invalid(what: "answer to a command") }
    let rows = try items.items(2)
    guard rows.count <= PlacementRules.assignmentLimit else {
      throw .tooLarge(
        length: UInt64(rows.count), limit: UInt64(PlacementRules.assignmentLimit))
    }
    var assigned: [MatchClaim] = []
    for index in 0..<rows.count {
      let row = try rows.items(index)
      assigned.append(
        MatchClaim(try row.match(0), host: sender.host, number: try row.claimNumber(1)))
    }
    let patience = items.count > 3 ? Duration.milliseconds(try items.integer(3)) : nil
    return .renewed(
      isDraining: try items.integer(1) != 0, patience: patience, assigned: assigned)
  }

  private static func registration(
    _ items: RedisItems, to command: DirectoryCommand
  ) throws(DecodeError) -> DirectoryAnswer {
    guard case .host(.register(let registration), _) = command else {
      throw .invalid(what: "answer to a command")
    }
    func held(_ row: RedisItems) throws(DecodeError) -> HeldMatch {
      let index = try row.integer(0)
      guard registration.holding.indices.contains(index) else {
        throw .invalid(what: "number of a match")
      }
      return registration.holding[index]
    }
    var lost: [LostMatch] = []
    let lostRows = try items.items(1)
    for index in 0..<lostRows.count {
      let row = try lostRows.items(index)
      let placement = row.count == 1 ? nil : try row.placement(from: 1)
      lost.append(LostMatch(try held(row).claim, to: placement))
    }
    var unseated: [HeldMatch] = []
    let unseatedRows = try items.items(2)
    for index in 0..<unseatedRows.count {
      let row = try unseatedRows.items(index)
      unseated.append(HeldMatch(try held(row).claim, players: try players(row, from: 1)))
    }
    return .registered(RegistrationResult(lost: lost, unseated: unseated))
  }

  private static func doors(_ items: RedisItems) throws(DecodeError) -> [HostRecord] {
    guard items.count <= PlacementRules.doorLimit else {
      throw .tooLarge(length: UInt64(items.count), limit: UInt64(PlacementRules.doorLimit))
    }
    var records: [HostRecord] = []
    for index in 0..<items.count { records.append(try items.record(index)) }
    return records
  }

  private static func status(_ items: RedisItems) throws(DecodeError) -> FleetStatus {
    var hosts: [HostStatus] = []
    var matches = 0
    for row in try items.rows(1) {
      let numbers = try row.integers(1...5)
      hosts.append(HostStatus(try row.record(0), numbers))
      matches += numbers[1]
    }
    let counts = try items.integers(2...3)
    return FleetStatus(hosts: hosts, matches: matches, orphans: counts[0], finished: counts[1])
  }
}

extension HostStatus {
  /// Creates the status of a host from the numbers that the function gives.
  fileprivate init(_ record: HostRecord, _ numbers: [Int]) {
    self.init(
      record, seatsInUse: numbers[0], matches: numbers[1],
      load: HostLoad(lateTicks: numbers[2], processor: numbers[3]), isDraining: numbers[4] != 0)
  }
}

/// The values in an array of an answer, each of which must be there and of the kind that is asked
/// for.
private struct RedisItems {
  private let values: [RESPValue]

  init(_ value: RESPValue) throws(DecodeError) {
    guard case .array(let values) = value else { throw .invalid(what: "array of an answer") }
    self.values = values
  }

  var count: Int { values.count }

  private func value(_ index: Int) throws(DecodeError) -> RESPValue {
    guard index < values.count else {
      throw .truncated(wanted: index + 1, remaining: values.count)
    }
    return values[index]
  }

  func items(_ index: Int) throws(DecodeError) -> RedisItems { try RedisItems(try value(index)) }

  func rows(_ index: Int) throws(DecodeError) -> [RedisItems] {
    var rows: [RedisItems] = []
    for value in try items(index).values { rows.append(try RedisItems(value)) }
    return rows
  }

  func integers(_ range: ClosedRange<Int>) throws(DecodeError) -> [Int] {
    var integers: [Int] = []
    for index in range { integers.append(try integer(index)) }
    return integers
  }

  func bytes(_ index: Int) throws(DecodeError) -> [UInt8] {
    guard case .bulkString(let bytes) = try value(index) else {
      throw .invalid(what: "bulk string of an answer")
    }
    guard bytes.count <= Checkpoint.maximumLength else {
      throw .tooLarge(
        length: UInt64(bytes.count), limit: UInt64(Checkpoint.maximumLength))
    }
    return bytes
  }

  func text(_ index: Int) throws(DecodeError) -> String {
    String(decoding: try bytes(index), as: UTF8.self)
  }

  /// A small number that is not negative, such as a count.
  func integer(_ index: Int) throws(DecodeError) -> Int {
    guard case .integer(let number) = try value(index), 0...Int64(Int32.max) ~= number else {
      throw .invalid(what: "number of an answer")
    }
    return Int(number)
  }

  /// A number that is written as text, because it may be larger than the server's scripts can
  /// return otherwise.
  func number(_ index: Int) throws(DecodeError) -> UInt64 {
    guard let number = UInt64(try text(index)) else { throw .invalid(what: "number of an answer") }
    return number
  }

  func claimNumber(_ index: Int) throws(DecodeError) -> UInt64 {
    let number = try number(index)
    guard number <= MatchClaim.maximumNumber else { throw .invalid(what: "number of a claim") }
    return number
  }

  func match(_ index: Int) throws(DecodeError) -> MatchID {
    guard let match = MatchID(try text(index)) else { throw .invalid(what: "name of a match") }
    return match
  }

  func peer(_ index: Int) throws(DecodeError) -> PeerID {
    guard let peer = PeerID(try text(index)) else { throw .invalid(what: "peer id") }
    return peer
  }

  // The compiler (6.3.1) crashes when it optimizes this as a part of `status`.
  @inline(never) func record(_ index: Int) throws(DecodeError) -> HostRecord {
    let bytes = try bytes(index)
    return try HostRecord(decoding: bytes.span)
  }

  /// Four values: the match, the claim's host and number, and the host's record.
  func placement(from index: Int) throws(DecodeError) -> Placement {
    let record = try record(index + 3)
    let claim = MatchClaim(
      try match(index), host: try peer(index + 1), number: try claimNumber(index + 2))
    guard record.id == claim.host else { throw .invalid(what: "record of a host") }
    return Placement(claim, at: record)
  }
}
