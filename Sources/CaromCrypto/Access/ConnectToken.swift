import CaromCore

/// What a backend gives a client so that the client can join one of certain hosts once: the hosts,
/// a ticket that only these hosts can read in full, and a key for the first messages.
///
/// Send a token to its player only over a secure channel, such as HTTPS: anybody else who gets the
/// token can join in the player's place. `description` does not show the token.
public struct ConnectToken: Sendable {
  /// The maximum length of a token in bytes.
  public static let maximumLength = 512
  /// The maximum number of hosts in a token.
  public static let hostLimit = 6
  /// The maximum length in bytes of the data that a backend may add for the host.
  public static let maximumData = 256
  /// The maximum time for which a token is valid: one day. A host remembers a used token for as
  /// long as it is valid, so most tokens should be valid for a minute at most.
  public static let maximumLifetime = Duration.seconds(86_400)
  /// The length in bytes of the key for the first messages.
  static let keyLength = 32

  private let ticket: Ticket
  /// The key that the client and the host share. It is the pre-shared key of their handshake.
  package let key: SecretBytes

  /// Creates a token. Only a backend does this.
  ///
  /// - Parameters:
  ///   - hosts: The endpoints at which the client should try to join, at most 6. A host accepts the
  ///     token only if one of these endpoints is its own.
  ///   - player: The id under which the host knows the player.
  ///   - lifetime: The time for which the token is valid, 1 ms to one day.
  ///   - data: Up to 256 bytes for the host, such as a team or a level.
  ///   - backendKey: The key that the backend shares with its hosts.
  ///   - now: The current time.
  ///   - generator: An unpredictable generator, such as the system's.
  public init(
    for hosts: [Endpoint], player: PeerID, lifetime: Duration, data: [UInt8] = [],
    key backendKey: BackendKey, at now: UnixTime, using generator: inout some RandomNumberGenerator
  ) throws(ConnectTokenError) {
    try self.init(
      for: hosts, player: player, lifetime: lifetime, data: data, purpose: .joining,
      key: backendKey, at: now, using: &generator)
  }

  /// Creates a door token: a token with which a player can ask each of `doors`, at most 6, where
  /// its match is, and which gives no seat to anybody. A player can ask again and again with it.
  /// The other arguments are those of any token.
  package init(
    asking doors: [Endpoint], player: PeerID, lifetime: Duration, data: [UInt8],
    key backendKey: BackendKey, at now: UnixTime, using generator: inout some RandomNumberGenerator
  ) throws(ConnectTokenError) {
    try self.init(
      for: doors, player: player, lifetime: lifetime, data: data, purpose: .asking,
      key: backendKey, at: now, using: &generator)
  }

  private init(
    for hosts: [Endpoint], player: PeerID, lifetime: Duration, data: [UInt8],
    purpose: Ticket.Purpose, key backendKey: BackendKey, at now: UnixTime,
    using generator: inout some RandomNumberGenerator
  ) throws(ConnectTokenError) {
    guard hosts.count <= Self.hostLimit else { throw .tooManyHosts }
    guard data.count <= Self.maximumData else { throw .tooMuchData }
    guard .milliseconds(1)...Self.maximumLifetime ~= lifetime, now.milliseconds >= 0 else {
      throw .invalidLifetime
    }
    for host in hosts where !Self.isUsable(host) { throw .invalidHost(host) }
    key = SecretBytes(random: Self.keyLength, using: &generator)
    ticket = Ticket(
      made: now, expiry: now + lifetime, hosts: hosts, player: player, data: data, key: key,
      nonce: SecretBytes(random: XChaChaPoly.nonceLength, using: &generator).reveal(),
      backendKey: backendKey, for: purpose)
  }

  /// Reads a token from its bytes. Does not check whether the token is authentic; only a host can
  /// do that.
  public init(decoding bytes: Span<UInt8>) throws(DecodeError) {
    guard bytes.count <= Self.maximumLength else {
      throw .tooLarge(length: UInt64(bytes.count), limit: UInt64(Self.maximumLength))
    }
    let length = bytes.count - Self.keyLength
    guard length >= Ticket.minimumLength else {
      throw .truncated(wanted: Ticket.minimumLength + Self.keyLength, remaining: bytes.count)
    }
    ticket = try Ticket(decoding: bytes.extracting(..<length))
    key = SecretBytes(copying: bytes.extracting(length...))
  }

  /// Reads a token from its text. Throws if the text is not a token.
  public init(_ text: some StringProtocol) throws(DecodeError) {
    let limit = Base64.url.length(of: Self.maximumLength)
    guard text.utf8.count <= limit else {
      throw .tooLarge(length: UInt64(text.utf8.count), limit: UInt64(limit))
    }
    guard var bytes = Base64.url.bytes(of: text.utf8) else { throw .invalid(what: "Base64 text") }
    let secret = SecretBytes(moving: &bytes)
    try self.init(decoding: secret.reveal().span)
  }

  /// The hosts at which the client should try to join, in this order.
  public var hosts: [Endpoint] { ticket.hosts }
  /// Whether this is a door token.
  package var isForDoors: Bool { ticket.purpose == .asking }
  /// The time at which the token was made, on the backend's clock.
  public var made: UnixTime { ticket.made }
  /// The time from which the token is no longer valid.
  public var expiry: UnixTime { ticket.expiry }

  /// The token's ticket, which the client sends to the host.
  package var ticketBytes: [UInt8] { ticket.bytes }

  /// Returns the player and the data of the token. Returns nil if the token was not made with
  /// `backendKey` or was changed. Does not check whether a host would accept the token.
  package func open(with backendKey: BackendKey) -> (player: PeerID, data: [UInt8])? {
    ticket.open(with: [backendKey]).map { ($0.player, $0.data) }
  }

  /// The token's bytes, which are secret.
  public var bytes: [UInt8] { ticket.bytes + key.reveal() }

  /// The token's bytes as text without spaces (base64url, RFC 4648 §5, without padding). It is
  /// secret.
  public var text: String { Base64.url.text(of: bytes) }

  /// Returns whether a token can name this endpoint: clients must be able to connect to it.
  package static func isUsable(_ host: Endpoint) -> Bool {
    host.port != 0 && host.address != .any4 && host.address != .any6 && !host.address.isMulticast
  }
}

extension ConnectToken: Hashable {
  /// Returns whether two tokens have the same bytes.
  public static func == (a: ConnectToken, b: ConnectToken) -> Bool {
    a.ticket.bytes == b.ticket.bytes && a.key == b.key
  }

  /// Hashes the ticket, which is not secret.
  public func hash(into hasher: inout Hasher) { hasher.combine(ticket.bytes) }
}

extension ConnectToken: CustomStringConvertible, CustomReflectable {
  /// A string that names the token's hosts and does not show the token; `text` shows it.
  public var description: String {
    "connect token for \(hosts.map(\.description).joined(separator: ", "))"
  }
  /// A mirror that contains only the hosts, so that `dump` does not show the token.
  public var customMirror: Mirror { Mirror(self, children: ["hosts": hosts]) }
}

/// The reasons why a token cannot be made or is not accepted.
public enum ConnectTokenError: Error, Hashable, Sendable {
  /// More than 6 hosts were given, but a token names at most 6: choose some of them.
  case tooManyHosts
  /// Nobody can connect to the endpoint: give an address of the host, and a port other than 0.
  case invalidHost(Endpoint)
  /// The backend's data is longer than 256 bytes: send a number by which the host finds the rest.
  case tooMuchData
  /// A token must be valid for a millisecond to a day.
  case invalidLifetime
  /// The bytes are not the ticket of a connect token.
  case malformed(DecodeError)
  /// The token is no longer valid: ask the backend for another one.
  case expired
  /// According to this host's clock, the token was made in the future: try again in a moment, and
  /// check the clocks of the backend and of the host.
  case notYetValid
  /// The token was made before the host started, so nobody knows whether it was used: ask the
  /// backend for another one.
  case madeBeforeStart
  /// The token is for other hosts: connect to one of those that it names.
  case otherHost
  /// The token was not made with a key of this host, or was changed: ask the backend for another
  /// one, and check that the backend and the host have the same key.
  case notAuthentic
}

extension ConnectTokenError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .tooManyHosts: "a connect token names at most 6 hosts: choose some"
    case .invalidHost(let host):
      "nobody can connect to \(host): give an address of the host and a port above 0"
    case .tooMuchData: "a connect token carries at most 256 bytes of data: send less"
    case .invalidLifetime: "a connect token is valid for a millisecond to a day: choose such a time"
    case .malformed(let error): "this is no connect token (\(error)): ask for another one"
    case .expired: "the connect token has expired: ask for another one"
    case .notYetValid:
      "the connect token was made in the future: try again, and check the clocks"
    case .madeBeforeStart:
      "the connect token was made before the host started: ask for another one"
    case .otherHost: "the connect token is for another host: connect to one that it names"
    case .notAuthentic:
      "the connect token was not made with this host's key: ask for another one"
    }
  }
}
