import Carom
import CaromFleet

/// The state of a match: every goal so far, in order.
struct Tally: PacketCodable, Hashable {
  /// The players, in the order in which the directory knows them.
  var players: [PeerID] = []
  /// The index of the player who shot each goal.
  var goals: [UInt8] = []

  init(_ players: [PeerID]) { self.players = players }

  /// The tick of a checkpoint: the number of goals.
  var tick: UInt64 { UInt64(goals.count) }

  func shots(of player: PeerID) -> UInt32 {
    guard let index = players.firstIndex(of: player) else { return 0 }
    return UInt32(goals.count { $0 == UInt8(index) })
  }

  /// Counts a shot, unless it is counted already. Returns whether it is the player's next one.
  mutating func count(_ shot: UInt32, of player: PeerID) -> Bool {
    guard let index = players.firstIndex(of: player), shot == shots(of: player) + 1 else {
      return false
    }
    goals.append(UInt8(index))
    return true
  }

  func encode(into writer: inout PacketWriter) {
    writer.write(UInt8(players.count))
    for player in players {
      writer.write(player.high)
      writer.write(player.low)
    }
    writer.write(goals)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    for _ in 0..<(try reader.read(UInt8.self)) {
      players.append(PeerID(high: try reader.read(), low: try reader.read()))
    }
    goals = reader.readRest()
  }
}

/// What a player sends.
struct PlayerMessage: PacketCodable, Hashable {
  enum Kind: UInt8 {
    /// The player is here, and knows so many goals.
    case hello
    /// The shot with this number, counted from 1.
    case shot
    /// The player knows all goals of the match, which are so many.
    case done
  }

  let kind: Kind
  let number: UInt32

  init(_ kind: Kind, _ number: UInt32) { (self.kind, self.number) = (kind, number) }

  func encode(into writer: inout PacketWriter) {
    writer.write(kind.rawValue)
    writer.write(number)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let kind = Kind(rawValue: try reader.read()) else { throw .invalid(what: "message") }
    self.init(kind, try reader.read())
  }
}

/// What a host sends reliably: a goal, or the answer to a player's hello.
enum HostMessage: PacketCodable, Hashable {
  /// So many goals are certain, and so many shots of the player are counted.
  case welcome(goals: UInt32, shots: UInt32)
  /// The goal with this number, counted from 1, and the index of the player who shot it.
  case goal(UInt32, by: UInt8)

  func encode(into writer: inout PacketWriter) {
    switch self {
    case .welcome(let goals, let shots):
      writer.write(UInt8(0))
      writer.write(goals)
      writer.write(shots)
    case .goal(let number, let player):
      writer.write(UInt8(1))
      writer.write(number)
      writer.write(player)
    }
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    if try reader.read(UInt8.self) == 0 {
      self = .welcome(goals: try reader.read(), shots: try reader.read())
    } else {
      self = .goal(try reader.read(), by: try reader.read())
    }
  }
}

/// What a host sends at each tick, unreliably: how many goals are certain.
struct Pulse: PacketCodable, Hashable {
  let goals: UInt32

  init(_ goals: UInt32) { self.goals = goals }
  func encode(into writer: inout PacketWriter) { writer.write(goals) }
  init(decoding reader: inout PacketReader) throws(DecodeError) { goals = try reader.read() }
}

extension MessageChannel<PlayerMessage> {
  static var player: Self { .init(0, .reliableOrdered) }
}

extension MessageChannel<HostMessage> {
  static var host: Self { .init(1, .reliableOrdered) }
}

extension MessageChannel<Pulse> {
  static var pulse: Self { .init(2, .unreliable) }
}
