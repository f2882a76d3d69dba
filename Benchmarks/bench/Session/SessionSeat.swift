import Carom

/// How a client gets a seat: in plaintext, or with a pattern of the handshake.
enum SessionSeat: String, CaseIterable {
  case plaintext
  case xx = "XX"
  /// The client knows the host's key beforehand.
  case ik = "IK"
  case code, token

  /// The most processor time that a seat should take of the host, in microseconds.
  var goal: Double {
    switch self {
    case .plaintext, .xx: 150
    case .ik: 200
    case .code: 350
    case .token: 60
    }
  }

  /// How many of these seats a host gives to strangers in a second; see Security, "strangers".
  var rate: Double {
    switch self {
    case .plaintext, .token: .infinity
    case .xx: 800
    case .ik: 600
    case .code: 400
    }
  }

  static let hostEndpoint = Endpoint(.loopback4, port: 1)
  /// The time of day of the measurements, at which the tokens are valid.
  static let timeOfDay = UnixTime(milliseconds: 2_000)

  private static let joinCode: JoinCode = {
    var generator = SeededGenerator(seed: 1)
    return JoinCode(using: &generator)
  }()
  private static let backendKey: BackendKey = {
    var generator = SeededGenerator(seed: 2)
    return BackendKey(using: &generator)
  }()

  /// The security settings of the host; nil in plaintext.
  func makeHostSecurity() -> LinkSecurity? {
    switch self {
    case .plaintext: nil
    case .xx, .ik: SessionCarom.security(1)
    case .code: SessionCarom.security(1, access: .code(Self.joinCode, isForOneUse: false))
    case .token:
      SessionCarom.security(
        1,
        access: .tickets(
          TicketReader(keys: [Self.backendKey], start: UnixTime(milliseconds: 0))))
    }
  }

  /// The security settings of the client `number`; nil in plaintext.
  func makeClientSecurity(_ number: Int) -> LinkSecurity? {
    switch self {
    case .plaintext: nil
    case .xx, .ik: SessionCarom.security(number)
    case .code: SessionCarom.security(number, access: .code(Self.joinCode, isForOneUse: false))
    case .token: makeTokenSecurity(number)
    }
  }

  /// The host's key, if the client knows it beforehand.
  var hostKey: PublicKey? { self == .ik ? SessionCarom.security(1).identity?.publicKey : nil }

  private func makeTokenSecurity(_ number: Int) -> LinkSecurity {
    var generator = SeededGenerator(seed: UInt64(number))
    do throws(ConnectTokenError) {
      let token = try ConnectToken(
        for: [Self.hostEndpoint], player: SessionCarom.peer(number).id, lifetime: .seconds(3_600),
        key: Self.backendKey, at: UnixTime(milliseconds: 1_000), using: &generator)
      return LinkSecurity(
        nil, access: .token(token),
        seed: SecretBytes(random: SecretSource.length, using: &generator))
    } catch { preconditionFailure("\(error)") }
  }
}

/// What a seat takes on the network until the client knows that it has it, in both directions. The
/// counts are the same on every machine.
struct SessionSeatCounts {
  var datagrams = 0.0
  var bytes = 0.0
}
