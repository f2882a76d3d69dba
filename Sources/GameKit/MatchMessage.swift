import Foundation

/// A message between the players of a match, or between those who look for one, on the session's
/// reliable channel. Players are named by their keys, which have 16 hexadecimal digits.
enum MatchMessage: Hashable, Sendable {
  /// The application's data.
  case data(Data)
  /// The sender asks the players, the receiver among them, to play one match.
  case propose(number: UInt32, players: [String])
  /// The sender wants to play the proposed match, and no other one until it hears more.
  case agree(number: UInt32)
  /// The sender cannot play the proposed match.
  case refuse(number: UInt32)
  /// The sender withdraws its proposal.
  case withdraw(number: UInt32)
  /// All players have agreed to the proposal of this proposer.
  case begin(proposer: String, number: UInt32)
  /// The sender asks the receiver, which has the lowest key, who would be the best host.
  case askForHost
  /// The sender asks for the cost of the receiver's connections.
  case askForCost
  /// How slow the sender's slowest connection is, in microseconds; nil if it is unknown.
  case cost(UInt32?)
  /// The best host; nil if it is unknown.
  case host(String?)

  /// The maximum number of players in a message.
  static let playerLimit = 64
  private static let keyLength = 16

  private enum Kind: UInt8 {
    case data = 0
    case propose = 1
    case agree = 2
    case refuse = 3
    case withdraw = 4
    case begin = 5
    case askForHost = 6
    case askForCost = 7
    case cost = 8
    case host = 9
  }

  /// The message in its wire format: the kind (1 byte) and the fields. Numbers have 4 bytes, the
  /// lowest first.
  var encoded: Data {
    switch self {
    case .data(let data): Data([Kind.data.rawValue]) + data
    case .propose(let number, let players):
      Self.bytes(.propose, number) + Data(players.joined().utf8)
    case .agree(let number): Self.bytes(.agree, number)
    case .refuse(let number): Self.bytes(.refuse, number)
    case .withdraw(let number): Self.bytes(.withdraw, number)
    case .begin(let proposer, let number): Self.bytes(.begin, number) + Data(proposer.utf8)
    case .askForHost: Data([Kind.askForHost.rawValue])
    case .askForCost: Data([Kind.askForCost.rawValue])
    case .cost(let cost):
      cost.map { Self.bytes(.cost, $0) } ?? Data([Kind.cost.rawValue])
    case .host(let key): Data([Kind.host.rawValue]) + Data((key ?? "").utf8)
    }
  }

  private static func bytes(_ kind: Kind, _ number: UInt32) -> Data {
    Data([kind.rawValue] + (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
  }

  /// Reads a message. Returns nil if its kind is unknown or a field is out of bounds.
  init?(decoding data: Data) {
    guard let kind = data.first.flatMap({ Kind(rawValue: $0) }) else { return nil }
    let body = data.dropFirst()
    switch kind {
    case .data: self = .data(Data(body))
    case .propose:
      guard let number = Self.number(in: body), let players = Self.keys(in: body.dropFirst(4))
      else { return nil }
      self = .propose(number: number, players: players)
    case .agree, .refuse, .withdraw:
      guard body.count == 4, let number = Self.number(in: body) else { return nil }
      switch kind {
      case .agree: self = .agree(number: number)
      case .refuse: self = .refuse(number: number)
      default: self = .withdraw(number: number)
      }
    case .begin:
      guard let number = Self.number(in: body), let keys = Self.keys(in: body.dropFirst(4)),
        keys.count == 1
      else { return nil }
      self = .begin(proposer: keys[0], number: number)
    case .askForHost, .askForCost:
      guard body.isEmpty else { return nil }
      self = kind == .askForHost ? .askForHost : .askForCost
    case .cost:
      guard body.isEmpty || body.count == 4 else { return nil }
      self = .cost(Self.number(in: body))
    case .host:
      guard let keys = Self.keys(in: body), keys.count <= 1 else { return nil }
      self = .host(keys.first)
    }
  }

  private static func number(in bytes: Data) -> UInt32? {
    guard bytes.count >= 4 else { return nil }
    return bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func keys(in bytes: Data) -> [String]? {
    guard bytes.count % keyLength == 0, bytes.count <= playerLimit * keyLength,
      bytes.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    var rest = text[...]
    var keys: [String] = []
    while !rest.isEmpty {
      keys.append(String(rest.prefix(keyLength)))
      rest = rest.dropFirst(keyLength)
    }
    return keys
  }
}
