import CaromCore

// The ways in which a connection begins.
extension Connection {
  /// Creates a connection that this side initiates, which requests a seat on each link it is given.
  package static func initiating(
    as local: LocalSide, key: ConnectionKey, _ secrets: LinkSecrets? = nil, at now: Instant
  ) -> Connection {
    let deadline = now.advanced(by: local.timing.handshakeLimit)
    return Connection(
      local: local, key: key, isInitiator: true,
      state: .awaitingGrant(deadline: deadline), secrets: secrets, at: now)
  }

  /// Creates a connection that this side initiates on an already open stream. It requests a seat.
  package static func initiatingOnStream(
    as local: LocalSide, key: ConnectionKey = .none, _ secrets: LinkSecrets? = nil,
    at now: Instant
  ) -> Connection {
    var connection = initiating(as: local, key: key, secrets, at: now)
    connection.addStream(at: now)
    return connection
  }

  /// Creates a connection on a stream that the peer has opened, and waits for the peer's request.
  package static func respondingOnStream(
    as local: LocalSide, _ secrets: LinkSecrets? = nil, isWebSocket: Bool = false,
    isSealed: Bool = false, isCodeRight: Bool? = nil, at now: Instant
  ) -> Connection {
    var connection = responding(as: local, key: .none, secrets, at: now)
    connection.setStream(
      StreamPath(
        limit: handshakeFrameLimit, isWebSocket: isWebSocket, isSealed: isSealed,
        isCodeRight: isCodeRight))
    return connection
  }

  /// Creates a connection that the peer began with a hello from `source`, an address that the peer
  /// has proven to be its own. `part` is the part of a handshake that followed the hello. If
  /// `acceptsKnown` is false, both may be repetitions of what the peer sent earlier. Returns nil if
  /// the connection must be encrypted and the handshake cannot begin.
  static func responding(
    to hello: Hello, _ part: HandshakePart? = nil, from source: Route, acceptsKnown: Bool = true,
    as local: LocalSide, _ secrets: LinkSecrets? = nil, at now: Instant
  ) -> Connection? {
    var connection = responding(as: local, key: hello.key, secrets, at: now)
    guard
      connection.beginPath(hello, part, from: source, acceptsKnown: acceptsKnown, at: now)
    else { return nil }
    return connection
  }

  /// Creates a connection that the peer began with a hello from `source` and a connect token, whose
  /// request for a seat is part of the first message. Returns nil if the message contains no
  /// request.
  static func responding(
    to hello: Hello, _ opening: TokenOpening, from source: Route, as local: LocalSide,
    _ secrets: LinkSecrets? = nil, at now: Instant
  ) -> Connection? {
    var connection = responding(as: local, key: hello.key, secrets, at: now)
    guard connection.beginPath(hello, opening, from: source, at: now) else { return nil }
    return connection
  }

  /// Creates a connection on a stream that another host of the group has accepted and partly read.
  static func responding(
    on handed: HandedStream, as local: LocalSide, _ secrets: LinkSecrets? = nil, at now: Instant
  ) -> Connection {
    var connection = responding(as: local, key: handed.key, secrets, at: now)
    connection.setStream(handed.path)
    connection.secrets?.ticket = handed.path.keys?.ticket
    if let info = handed.info {
      connection.handleRequest(of: info, at: now)
    } else {
      connection.events.append(.joining)
    }
    return connection
  }

  private static func responding(
    as local: LocalSide, key: ConnectionKey, _ secrets: LinkSecrets?, at now: Instant
  ) -> Connection {
    Connection(
      local: local, key: key, isInitiator: false,
      state: .awaitingRequest(deadline: now.advanced(by: local.timing.handshakeLimit)),
      secrets: secrets, at: now)
  }
}
