import CaromCore

@testable import CaromPlacement

/// Commands of a few hosts and players, drawn by seed. Many contradict each other.
struct CommandScript {
  private var generator: SeededGenerator
  private(set) var now = Instant.zero + .seconds(1_000_000)
  private var claims: [MatchClaim] = []

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  private mutating func players(_ limit: Int) -> [PeerID] {
    let count = number(1...limit)
    return Array([PeerID].players(1...9).shuffled(using: &generator).prefix(count))
  }

  private mutating func record(_ host: Int) -> HostRecord {
    .make(
      host, region: ["eu", "us"][host % 2], game: host == 4 ? .newHockey : .hockey,
      seats: generator.chance(0.95) ? 6 : 8)
  }

  /// A claim that was given once, or one that never was.
  private mutating func claim() -> MatchClaim {
    if let claim = claims.randomElement(using: &generator), generator.chance(0.95) { return claim }
    return MatchClaim(
      .match(number(1...6)), host: HostRecord.make(number(1...4)).id,
      number: UInt64(number(1...1_000_000_100)))
  }

  /// Learns the claims in an answer.
  mutating func note(_ answer: DirectoryAnswer) {
    if case .placed(let placement) = answer { claims.append(placement.claim) }
    if claims.count > 12 { claims.removeFirst() }
  }

  mutating func next() -> DirectoryCommand {
    if generator.chance(0.6) {
      now = now + .milliseconds(Int64(number(0...(generator.chance(0.03) ? 61_000 : 900))))
    }
    switch number(0...9) {
    case 0...1:
      let game = generator.chance(0.9) ? GameVersion.hockey : .newHockey
      let regions = [[], ["eu"], ["us", "eu"], ["asia"]].randomElement(using: &generator) ?? []
      var request = PlacementRequest(
        .match(number(1...6)), players: players(3), game: game, near: regions)
      if generator.chance(0.5) { request.key = .key(generator.chance(0.9) ? 1 : 2) }
      return .place(request)
    case 2: return .locate(.match(number(1...6)), player: .player(number(1...9)))
    case 3:
      let host = HostRecord.make(number(1...4)).id
      return generator.chance(0.1)
        ? .drain(host, patience: generator.chance(0.5) ? .milliseconds(Int64(number(0...9))) : nil)
        : [.doors(of: host), .status, .match(.match(number(1...6)))].randomElement(
          using: &generator)!
    case 4...6: return aboutClaim()
    default: return aboutHost()
    }
  }

  /// Keys that are most often those of all hosts.
  private mutating func keys() -> HostKeys {
    generator.chance(0.9)
      ? .keys(1, 2)
      : [.keys(2, 1), .keys(2), .keys(1), HostKeys()].randomElement(using: &generator)!
  }

  private mutating func sender(_ host: PeerID) -> CommandSender {
    CommandSender(
      host, run: generator.chance(0.97) ? 1 : 2,
      connection: generator.chance(0.9) ? 2 : UInt64(number(1...3)))
  }

  private mutating func aboutHost() -> DirectoryCommand {
    let host = number(1...4)
    let record = record(host)
    let command: HostCommand
    switch number(0...9) {
    case 0...5: command = .renew(HostLoad(lateTicks: number(0...60), processor: number(0...950)))
    case 6: command = generator.chance(0.3) ? .withdraw : .renew(HostLoad())
    case 7: command = generator.chance(0.2) ? .drain : .renew(HostLoad())
    default:
      var holding: [HeldMatch] = []
      for _ in 0..<number(0...3) { holding.append(HeldMatch(claim(), players: players(4))) }
      command = .register(
        HostRegistration(
          record, keys: keys(), isDraining: generator.chance(0.05), holding: holding))
    }
    return .host(command, from: sender(record.id))
  }

  private mutating func aboutClaim() -> DirectoryCommand {
    let claim = claim()
    let checkpoint = Checkpoint.at(UInt64(number(0...50)))
    let command: HostCommand =
      switch number(0...11) {
      case 0...4: .takeSeat(claim, player: .player(number(1...9)))
      case 5: .releaseSeat(claim, player: .player(number(1...9)))
      case 6...7: .save(claim, checkpoint)
      case 8...9: .resume(claim)
      case 10: .move(claim, generator.chance(0.5) ? checkpoint : nil)
      default: .finish(claim, result: [UInt8(number(0...255))])
      }
    return .host(command, from: sender(generator.chance(0.97) ? claim.host : .player(1)))
  }
}
