#if !canImport(CaromCrypto)
  import CaromCore

  // Without CaromCrypto, there are no identities, and all links are in plaintext or encrypted below
  // the session. These types have no values, so the compiler removes what handles them.

  /// A peer's long-term key pair.
  public enum Identity: Sendable {
    /// The id of the peer that has this key pair.
    public var id: PeerID { switch self {} }
  }

  /// A peer's public key.
  package enum PublicKey: Hashable, Sendable {}

  package enum LinkSecurity: Sendable {
    var keyLimits: KeyLimits { switch self {} }
    var identity: Identity? { switch self {} }
    var usesCode: Bool { switch self {} }
    func hasOwnPattern(_ message: Span<UInt8>) -> Bool { switch self {} }
    func isForKnownHost(_ message: Span<UInt8>) -> Bool { switch self {} }
    var usesTokens: Bool { switch self {} }
    var acceptsTickets: Bool { switch self {} }
    var acceptsConnections: Bool { switch self {} }
    var acceptsPeersWithoutKeys: Bool { switch self {} }
    func open(_ message: Span<UInt8>, of key: ConnectionKey, as use: TicketUse) -> TokenOpening? {
      switch self {}
    }
    func findDistrust(of keys: LinkKeys, named name: String? = nil) -> String? { switch self {} }
    var policy: SecurityPolicy { switch self {} }
    func protection(of keys: LinkKeys) -> LinkProtection { switch self {} }
  }

  enum TicketUse: Hashable, Sendable {
    var owner: ConnectionKey { switch self {} }
  }

  enum TokenOpening: Sendable {
    var use: TicketUse { switch self {} }
    var payload: [UInt8] { switch self {} }
    func answer(
      _ security: LinkSecurity, _ secrets: inout LinkSecrets
    ) -> (handshake: LinkHandshake, keys: DerivedKeys)? { switch self {} }
  }

  enum TicketDecision {
    case accepted(TokenOpening)
    case refused(Goodbye.Code)
    case ignored
  }

  package enum LinkSecrets: Sendable {
    var ticket: TicketUse? {
      get { switch self {} }
      set { switch self {} }
    }
    var refusalTag: AuthenticationTag? {
      get { switch self {} }
      set { switch self {} }
    }
  }

  enum LinkKeys: Sendable {
    static let overhead = 0
    var peer: PeerID { switch self {} }
    var usesKnownKey: Bool { switch self {} }
    var integrityLimit: UInt64 { switch self {} }
    var ticket: TicketUse? { switch self {} }
    func makeTag(of hello: Hello) -> AuthenticationTag { switch self {} }
  }

  enum DerivedKeys: Sendable {
    var link: LinkKeys { switch self {} }
  }

  enum PacketKeys: Sendable {
    init(_ keys: DerivedKeys, _ limits: KeyLimits, at now: Instant) { switch keys {} }
    var sendingPhase: Bool { switch self {} }
    func isUsedUp(at number: UInt64) -> Bool { switch self {} }
    mutating func changeIfDue(at number: UInt64, acknowledged: UInt64?, at now: Instant) {}
    func seal(_ buffer: inout MutableSpan<UInt8>, from offset: Int, head: Int, number: UInt64) {
      switch self {}
    }
    mutating func open(
      _ packet: Span<UInt8>, head: Int, number: UInt64, phase: Bool, into output: inout [UInt8],
      ownNumber: UInt64, roundTrip: Int64, at now: Instant
    ) -> Bool { switch self {} }
  }

  enum HandshakeAnswer {
    case rejected
    case second(LinkHandshake)
    case last(LinkHandshake, DerivedKeys, payload: [UInt8])
  }

  enum BodyKeys: Sendable {
    init(_ keys: DerivedKeys, _ limits: KeyLimits) { switch keys {} }
    var link: LinkKeys { switch self {} }
    var changes: Int { switch self {} }
    var limits: KeyLimits { switch self {} }
    func isUsedUp(at number: UInt64) -> Bool { switch self {} }
    mutating func changeSending(at number: UInt64) {}
    mutating func changeReceiving() {}
    func seal(_ buffer: inout MutableSpan<UInt8>, from start: Int, number: UInt64) {
      switch self {}
    }
    func open(_ body: Span<UInt8>, number: UInt64, into output: inout [UInt8]) -> Bool {
      switch self {}
    }
  }

  enum LinkHandshake: Sendable {
    var message: [UInt8] { switch self {} }
    var number: UInt8 { switch self {} }
    static func initiating(
      _ security: LinkSecurity, key: ConnectionKey, _ secrets: inout LinkSecrets
    ) -> LinkHandshake { switch security {} }
    static func answering(
      _ first: Span<UInt8>, _ security: LinkSecurity, key: ConnectionKey, hello: [UInt8],
      acceptsKnown: Bool, _ secrets: inout LinkSecrets
    ) -> HandshakeAnswer { switch security {} }
    func answers(_ message: Span<UInt8>, behind hello: Hello) -> Bool { switch self {} }
    var held: [UInt8] { switch self {} }
    func holding(_ second: [UInt8]) -> LinkHandshake { switch self {} }
    var usesToken: Bool { switch self {} }
    func readAnswer(_ second: Span<UInt8>) -> (handshake: LinkHandshake?, keys: DerivedKeys)? {
      switch self {}
    }
    func readEnd(_ third: Span<UInt8>) -> HandshakeEnd? { switch self {} }
  }
#endif
