import CaromCore
import CaromCrypto
import CaromProtocol

/// How the two sides of a script protect their connections. All keys come from fixed seeds, so that
/// a script always does the same.
enum ScriptSecurity: CaseIterable {
  case none, anyone, known, code, token

  /// The ways to encrypt connections.
  static let encrypted = allCases.filter { $0 != .none }

  /// The address of the host.
  static let hostEndpoint = Endpoint(.v4(0x0A00_0001), port: 7777)
  /// The player of the token, which is the id that the initiator of a script has anyway.
  private static let player = PeerID(high: 0, low: 2)
  /// The time at which the token is valid. A host with tokens has to know the time of day.
  static let timeOfDay = UnixTime(milliseconds: 2_000)

  private static let hostIdentity = makeIdentity(11)
  private static let initiatorIdentity = makeIdentity(12)
  private static let backendKey: BackendKey = {
    var generator = SeededGenerator(seed: 13)
    return BackendKey(using: &generator)
  }()

  private static let joinCode: JoinCode = {
    var generator = SeededGenerator(seed: 14)
    return JoinCode(using: &generator)
  }()

  private static let knownPeers: KnownPeers = {
    var peers = KnownPeers()
    do throws(KnownPeersError) {
      try peers.insert("1", hostIdentity.publicKey)
      try peers.insert("2", initiatorIdentity.publicKey)
    } catch { preconditionFailure("\(error)") }
    return peers
  }()

  private static let connectToken: ConnectToken = {
    var generator = SeededGenerator(seed: 15)
    do throws(ConnectTokenError) {
      return try ConnectToken(
        for: [hostEndpoint], player: player, lifetime: .seconds(3_600),
        data: [1, 2, 3], key: backendKey, at: UnixTime(milliseconds: 1_000), using: &generator)
    } catch { preconditionFailure("\(error)") }
  }()

  private static func makeIdentity(_ seed: UInt64) -> Identity {
    var generator = SeededGenerator(seed: seed)
    return Identity(using: &generator)
  }

  private static func makeSeed(_ seed: UInt64) -> SecretBytes {
    var generator = SeededGenerator(seed: seed)
    return SecretBytes(random: SecretSource.length, using: &generator)
  }

  /// The settings of the host; nil in plaintext.
  func makeHostSecurity() -> LinkSecurity? {
    let access: LinkAccess
    switch self {
    case .none: return nil
    case .anyone: access = .anyone
    case .known: access = .known(Self.knownPeers, name: nil)
    case .code: access = .code(Self.joinCode, isForOneUse: false)
    case .token:
      access = .tickets(
        TicketReader(
          keys: [Self.backendKey], start: UnixTime(milliseconds: 0),
          endpoints: [Self.hostEndpoint]))
    }
    return LinkSecurity(Self.hostIdentity, access: access, seed: Self.makeSeed(16))
  }

  /// The settings of the initiator; nil in plaintext.
  func makeInitiatorSecurity() -> LinkSecurity? {
    let access: LinkAccess
    switch self {
    case .none: return nil
    case .anyone: access = .anyone
    case .known: access = .known(Self.knownPeers, name: "1")
    case .code: access = .code(Self.joinCode, isForOneUse: false)
    case .token: access = .token(Self.connectToken)
    }
    return LinkSecurity(
      self == .token ? nil : Self.initiatorIdentity, access: access, seed: Self.makeSeed(17))
  }
}
