import CaromCore

/// What a backend gives a client so that the client can join one of certain hosts once: the hosts,
/// a ticket that only these hosts can read in full, and a key for the first messages.
///
/// Send a token to its player only over a secure channel, such as HTTPS: anybody else who gets the
/// token can join in the player's place. `description` does not show the token.
public struct ConnectToken: Sendable {
  /// The maximum length of a token in bytes.
  public static let maximumLength = 768
  /// The maximum number of hosts in a token.
  public static let hostLimit = 6
  /// The maximum length in bytes of the data that a backend may add for the host.
  public static let maximumData = 256
  /// The maximum time for which a token is valid: one day. A host remembers a used token for as
  /// long as it is valid, so most tokens should be valid for a minute at most.
  public static let maximumLifetime = Duration.seconds(86_400)
  /// The length in bytes of the key for the first messages.
  static let keyLength = 32

  /// The first bytes of a token with routing, which stands before the ticket.
  private static let routedMagic = Array("CRR1".utf8)

  private let ticket: Ticket
  /// How a proxy finds the hosts: empty if there is none; one element for all hosts of a token with
  /// which a player joins; one for each door of a door token.
  private let hostRouting: [DatagramRouting?]
  /// The key that the client and the host share. It is the pre-shared key of their handshake.
  package let key: SecretBytes

  /// Creates a token. Only a backend does this.
  ///
  /// - Parameters:
  ///   - hosts: The endpoints at which the client should try to join, at most 6. A host accepts the
  ///     token only if one of these endpoints is its own.
  ///   - routing: The bytes by which a proxy at these endpoints finds the host; nil if there is no
  ///     proxy that needs any.
  ///   - player: The id under which the host knows the player.
  ///   - lifetime: The time for which the token is valid, 1 ms to one day.
  ///   - data: Up to 256 bytes for the host, such as a team or a level.
  ///   - backendKey: The key that the backend shares with its hosts.
  ///   - now: The current time.
  ///   - generator: An unpredictable generator, such as the system's.
  public init(
    for hosts: [Endpoint], routing: DatagramRouting? = nil, player: PeerID, lifetime: Duration,
    data: [UInt8] = [], key backendKey: BackendKey, at now: UnixTime,
    using generator: inout some RandomNumberGenerator
  ) throws(ConnectTokenError) {
    try self.init(
      for: hosts, routing.map { [$0] } ?? [], player: player, lifetime: lifetime, data: data,
      purpose: .joining, key: backendKey, at: now, using: &generator)
  }

  /// Creates a door token: a token with which a player can ask each of `doors`, at most 6, where
  /// its match is, and which gives no seat to anybody. A player can ask again and again with it.
  /// The other arguments are those of any token.
  package init(
    asking doors: [RoutedEndpoint], player: PeerID, lifetime: Duration, data: [UInt8],
    key backendKey: BackendKey, at now: UnixTime, using generator: inout some RandomNumberGenerator
  ) throws(ConnectTokenError) {
    let isRouted = doors.contains { $0.routing != nil }
    try self.init(
      for: doors.map(\.endpoint), isRouted ? doors.map(\.routing) : [], player: player,
      lifetime: lifetime,
      data: data, purpose: .asking, key: backendKey, at: now, using: &generator)
  }

  private init(
    for hosts: [Endpoint], _ routing: [DatagramRouting?], player: PeerID, lifetime: Duration,
    data: [UInt8], purpose: Ticket.Purpose, key backendKey: BackendKey, at now: UnixTime,
    using generator: inout some RandomNumberGenerator
  ) throws(ConnectTokenError) {
    hostRouting = routing
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
    var reader = PacketReader(bytes)
    hostRouting = try Self.readRouting(&reader, in: bytes)
    let (start, length) = (reader.offset, reader.remaining - Self.keyLength)
    guard length >= Ticket.minimumLength else {
      throw .truncated(wanted: Ticket.minimumLength + Self.keyLength, remaining: reader.remaining)
    }
    ticket = try Ticket(decoding: bytes.extracting(start..<start + length))
    key = SecretBytes(copying: bytes.extracting((start + length)...))
    let count = ticket.purpose == .joining ? 1 : ticket.hosts.count
    guard hostRouting.isEmpty || hostRouting.count == count else { throw Self.invalidRouting }
  }

  /// Reads the routing before the ticket; there is none in most tokens.
  private static func readRouting(
    _ reader: inout PacketReader, in bytes: Span<UInt8>
  ) throws(DecodeError) -> [DatagramRouting?] {
    let magic = routedMagic
    guard bytes.count >= magic.count, magic.indices.allSatisfy({ bytes[$0] == magic[$0] }) else {
      return []
    }
    _ = try reader.readBytes(magic.count)
    let count: UInt8 = try reader.read()
    guard 1...UInt8(hostLimit) ~= count else { throw invalidRouting }
    var routing: [DatagramRouting?] = []
    for _ in 0..<count {
      let head: UInt8 = try reader.read()
      routing.append(head == 0 ? nil : try DatagramRouting(head: head, &reader))
    }
    guard routing.contains(where: { $0 != nil }) else { throw invalidRouting }
    return routing
  }

  private static var invalidRouting: DecodeError { .invalid(what: "routing of a connect token") }

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
  /// The bytes by which a proxy at the hosts' endpoints finds the host; nil if it needs none.
  /// `Session.join` puts them on each datagram.
  public var routing: DatagramRouting? { isForDoors ? nil : hostRouting.first ?? nil }
  /// The doors of a door token.
  package var doors: [RoutedEndpoint] {
    guard isForDoors, !hostRouting.isEmpty else { return hosts.map { RoutedEndpoint($0) } }
    return zip(hosts, hostRouting).map { RoutedEndpoint($0, routing: $1) }
  }
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
  public var bytes: [UInt8] { routingBytes + ticket.bytes + key.reveal() }

  private var routingBytes: [UInt8] {
    guard !hostRouting.isEmpty else { return [] }
    var writer = PacketWriter()
    writer.write(Self.routedMagic)
    writer.append(UInt8(hostRouting.count))
    for routing in hostRouting {
      if let routing { routing.encode(into: &writer) } else { writer.append(0) }
    }
    return writer.bytes
  }

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
    a.ticket.bytes == b.ticket.bytes && a.key == b.key && a.hostRouting == b.hostRouting
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
