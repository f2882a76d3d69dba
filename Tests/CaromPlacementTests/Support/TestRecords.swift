import CaromCore
import CaromCrypto

@testable import CaromPlacement

extension GameVersion {
  static let hockey = GameVersion("air-hockey", "1")
  static let newHockey = GameVersion("air-hockey", "2")
}

extension PeerID {
  /// A player for tests.
  static func player(_ number: Int) -> PeerID { PeerID(high: 7, low: UInt64(number)) }
}

extension [PeerID] {
  static func players(_ numbers: ClosedRange<Int>) -> [PeerID] { numbers.map(PeerID.player) }
}

extension MatchID {
  /// A match for tests, in the order of the numbers.
  static func match(_ number: Int) -> MatchID {
    MatchID("match-\(10_000 + number)")!
  }
}

extension HostRecord {
  /// The record of a host for tests: the same number makes the same host.
  static func make(
    _ number: Int, region: String = "eu", game: GameVersion = .hockey, seats: Int = 8
  ) -> HostRecord {
    var generator = SeededGenerator(seed: UInt64(number) + 1)
    let endpoint = Endpoint(.v4(0x7F01_0000 + UInt32(number)), port: 7_777)
    return HostRecord(
      key: Identity(using: &generator).publicKey, endpoints: [endpoint], region: region, game: game,
      seats: seats)
  }
}

extension HostKeys {
  /// The keys with these numbers.
  static func keys(_ numbers: Int...) -> HostKeys { HostKeys(numbers.map(KeyFingerprint.key)) }
}

extension KeyFingerprint {
  /// The fingerprint of a key for tests: the same number makes the same key.
  static func key(_ number: Int) -> KeyFingerprint {
    var generator = SeededGenerator(seed: UInt64(number))
    return BackendKey(using: &generator).fingerprint
  }
}

extension Checkpoint {
  static func at(_ tick: UInt64) -> Checkpoint {
    Checkpoint(tick: tick, state: [UInt8(truncatingIfNeeded: tick), 0, 0xFF, 13, 10])!
  }
}

extension DirectoryAnswer {
  var placement: Placement? { if case .placed(let placement) = self { placement } else { nil } }
  var claim: MatchClaim? { placement?.claim }
  var host: PeerID? { claim?.host }

  /// The result of a registration.
  var registration: RegistrationResult? {
    if case .registered(let result) = self { result } else { nil }
  }

  var assigned: [MatchClaim]? {
    if case .renewed(_, _, let assigned) = self { assigned } else { nil }
  }

  var statusReport: FleetStatus? { if case .status(let status) = self { status } else { nil } }
}
