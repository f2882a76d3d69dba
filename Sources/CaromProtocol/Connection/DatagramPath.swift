import CaromCore

/// A connection's datagram (UDP) path: finds the peer's address, proves this side's address, and
/// then sends and receives data packets with loss detection and congestion control.
///
/// The initiator sends padded hellos to every candidate address until one answers with a cookie.
/// From then until the responder's first packet arrives, the initiator prefixes each of its packets
/// with a hello that contains the cookie. A migration to a new address begins in the same way.
///
/// The path is large and used for every packet. Even methods that only read are mutating, so that
/// the path is accessed in place rather than copied.
struct DatagramPath: Sendable {
  enum Stage: Hashable {
    /// No address has answered a hello.
    case connecting
    /// The sides exchange the messages of the handshake. Only an encrypted path has this stage.
    case securing
    /// An address has answered, or has been taken from a token without waiting for an answer. A
    /// hello precedes each packet. On the responder's side: the initiator has a connect token, and
    /// its address is not proven yet. The responder's message of the handshake precedes each
    /// packet.
    case validating
    /// Each side has received a packet from the other. Packets are no longer preceded by a hello.
    case validated
  }

  /// The delay between hellos to different addresses, in nanoseconds.
  static let candidateDelay: Int64 = 50_000_000
  /// The delay between the first two rounds of hellos, in nanoseconds. The delay grows by half
  /// after each round.
  static let firstHelloDelay: Int64 = 200_000_000
  /// The maximum delay between two rounds of hellos, in nanoseconds.
  static let longestHelloDelay: Int64 = 1_000_000_000
  /// The silence after which this side sends keep-alive pings, in nanoseconds. Each side sends a
  /// packet at least every second, so a longer silence may mean a burst of losses or a path that
  /// has failed.
  static let keepAliveDelay: Int64 = 1_250_000_000
  /// The interval between keep-alive pings, in nanoseconds.
  static let keepAliveInterval: Int64 = 50_000_000
  /// The number of unanswered tail probes after which the path is suspect.
  static let probesUntilSuspect: Int32 = 3
  /// The minimum silence, in nanoseconds, before a path is suspect. Unanswered probes alone are not
  /// enough: on a path with a round trip of a millisecond, three consecutive probes are
  /// occasionally lost.
  static let silenceUntilSuspect: Int64 = 250_000_000

  // What every packet needs is in the middle, and what only a handshake, a migration or an error
  // needs comes first.
  let key: ConnectionKey
  var epoch: UInt32
  var nextCandidate = 0
  var helloDelay = firstHelloDelay
  var cookie: Cookie?
  /// The number of packets that were dropped because they were malformed.
  var malformedPackets = 0
  private var lastKeepAlive: Instant?
  /// The value of `resumes` in this side's hellos: whether the peer must refuse a hello if it does
  /// not recognize the connection.
  var resumes = false
  #if canImport(CaromCrypto)
    // Without CaromCrypto, these are constant; see DatagramPath+WithoutCrypto.swift.
    /// The handshake of an encrypted path, until the peer has received this side's last message;
    /// nil in plaintext.
    var handshake: LinkHandshake?
    /// The keys of an encrypted path, once the handshake has derived them; nil in plaintext.
    private(set) var keys: LinkKeys?
    /// The keys that encrypt the packets of an encrypted path now; nil exactly if `keys` is.
    var packetKeys: PacketKeys?
    /// The number of packets that were dropped because they were not sealed with the peer's key.
    var forgedPackets: UInt64 = 0
    /// The token that is sent in place of a cookie until the peer answers.
    @Boxed var token: AddressToken?
    let isInitiator: Bool
    /// Whether packets are encrypted: exactly if `keys` and `packetKeys` are not nil. Every packet
    /// needs to know, and the keys lie in memory that a path in plaintext does not touch.
    private(set) var isEncrypted = false
    /// Whether the connect token's ticket is sent in place of a cookie until the peer answers.
    var beginsWithTicket = false
    /// On the responder's side, the number of bytes that may be sent until the initiator's address
    /// is proven; nil if it is proven.
    var unprovenBudget: Int?
  #endif
  var stage: Stage
  /// Whether the peer had been silent for `silenceUntilSuspect` when the last tail probe was sent.
  var isSilent = false
  /// Whether the next packet must elicit an acknowledgement.
  var isPingDue = false
  /// Whether an acknowledgement must be sent without delay.
  var isAcknowledgementDue = false
  /// Whether the newest message of `handshake` must be sent.
  var isHandshakeDue = false
  var unansweredProbes: Int32 = 0
  /// A counter that changes whenever the result of `findEndpoints` may have changed.
  private(set) var migrations: UInt32 = 1
  /// The routes on which hellos are sent while connecting. On the responder's side of an encrypted
  /// path, the route on which the answer to the initiator's last hello is due.
  var candidates: [Route] { didSet { migrations &+= 1 } }
  /// The route to the peer; `nil` while connecting.
  private(set) var route: Route? { didSet { migrations &+= 1 } }
  /// The time of the next hello; `nil` if none is scheduled.
  var nextHello: Instant?
  /// The time at which the last packet was received; `nil` before the first.
  var lastReceived: Instant?
  var nextWindowGrowth = Instant.zero
  var received = ReceivedPackets()
  var flow: DatagramFlow

  private init(
    isInitiator: Bool, key: ConnectionKey, stage: Stage, route: Route?, candidates: [Route],
    epoch: UInt32, handshake: LinkHandshake?, overhead: UInt8, at now: Instant
  ) {
    #if canImport(CaromCrypto)
      self.isInitiator = isInitiator
    #endif
    self.key = key
    self.stage = stage
    self.route = route
    self.candidates = candidates
    self.epoch = epoch
    let first = route ?? candidates.first
    flow =
      first?.isDataChannel == true
      ? DatagramFlow(maximumPayload: SessionWire.dataChannelPayload, at: now)
      : DatagramFlow(
        maximumPayload: (first?.endpoint.address.isV6 != false ? 1452 : 1472) - Int(overhead),
        overhead: overhead, at: now)
    self.handshake = handshake
  }

  /// Creates a path that this side opens to the first of `candidates` that answers. If one of the
  /// candidates has issued `token`, the path tries that candidate first, as if it had answered with
  /// a cookie. If `beginsWithTicket` is true, the path does so with the first candidate, and sends
  /// a ticket. The path is encrypted if `handshake` is not nil. `overhead` is the number of bytes
  /// that are added to each datagram on its way.
  static func initiating(
    _ candidates: [Route], key: ConnectionKey, token: JoinToken? = nil,
    handshake: LinkHandshake? = nil, beginsWithTicket: Bool = false, overhead: UInt8 = 0,
    at now: Instant
  ) -> DatagramPath {
    let host =
      beginsWithTicket
      ? candidates.first
      : token.flatMap { token in candidates.first { $0.endpoint == token.host } }
    let first: Stage = handshake == nil ? .validating : .securing
    var path = DatagramPath(
      isInitiator: true, key: key, stage: host == nil ? .connecting : first, route: host,
      candidates: candidates, epoch: 1, handshake: handshake, overhead: overhead, at: now)
    path.isHandshakeDue = path.stage == .securing
    path.nextHello = host == nil ? now : now.advanced(byNanoseconds: firstHelloDelay)
    path.beginsWithTicket = beginsWithTicket
    if host != nil, !beginsWithTicket { path.token = token?.token }
    return path
  }

  /// Creates a path opened by the peer, whose address has been validated. The path is encrypted if
  /// `handshake`, which answers the peer's first message, is not nil. The epoch of an encrypted
  /// path begins at 0, because nothing proves yet that the hello came from the initiator.
  static func responding(
    to hello: Hello, from route: Route, handshake: LinkHandshake? = nil, overhead: UInt8 = 0,
    at now: Instant
  ) -> DatagramPath {
    var path = DatagramPath(
      isInitiator: false, key: hello.key, stage: handshake == nil ? .validated : .securing,
      route: route, candidates: [], epoch: handshake == nil ? hello.epoch : 0,
      handshake: handshake, overhead: overhead, at: now)
    guard handshake != nil else { return path }
    path.isHandshakeDue = true
    path.lastReceived = now
    return path
  }

  /// Creates a path opened by a peer whose connect token was accepted, or who knows this side's
  /// key. `handshake` answers the peer's first message, and has derived `keys`. If the hello has a
  /// ticket in place of a cookie, the peer's address is not proven.
  static func responding(
    to hello: Hello, from route: Route, _ handshake: LinkHandshake, _ keys: DerivedKeys,
    _ limits: KeyLimits, overhead: UInt8, at now: Instant
  ) -> DatagramPath {
    var path = DatagramPath(
      isInitiator: false, key: hello.key, stage: .validating, route: route, candidates: [],
      epoch: hello.hasTicket ? 0 : hello.epoch, handshake: handshake, overhead: overhead, at: now)
    path.begin(keys, limits, at: now)
    path.isPingDue = true
    if hello.hasTicket { path.unprovenBudget = unprovenAllowance }
    return path
  }

  /// The number of bytes that may be sent to an address that is not proven for each hello with a
  /// ticket from there: three tenths of such a hello's length.
  static let unprovenAllowance = Hello.paddedLength * 3 / 10

  /// Whether the path uses an address that has not answered yet.
  @inline(__always) var isOptimistic: Bool { hasToken || beginsWithTicket }
  #if canImport(CaromCrypto)
    /// Whether `token` is not nil.
    @inline(__always) var hasToken: Bool { $token }
  #endif
  /// Begins to encrypt and decrypt packets with `keys`.
  mutating func begin(_ keys: DerivedKeys, _ limits: KeyLimits, at now: Instant) {
    isEncrypted = true
    self.keys = keys.link
    packetKeys = PacketKeys(keys, limits, at: now)
  }

  /// Whether an address of the peer has answered. Before that, an address may be known from a token
  /// alone.
  @inline(__always) var hasFoundPeer: Bool { stage != .connecting && !isOptimistic }
  /// Whether messages may be sent on the path.
  @inline(__always) var isOpen: Bool { stage == .validated || stage == .validating }
  /// Whether the path is encrypted, or will be once its handshake is complete.
  var isSealed: Bool { handshake != nil || keys != nil }
  /// Whether the keys of an encrypted path are not known yet.
  var isSecuring: Bool { handshake != nil && keys == nil }
  /// Whether a packet from the peer was received on the path and nothing indicates that the path
  /// has failed since.
  @inline(__always)
  var isResponsive: Bool { isOpen && lastReceived != nil && !isSuspect }
  /// Whether the path may have failed: at least `probesUntilSuspect` consecutive tail probes went
  /// unanswered, and nothing was received for `silenceUntilSuspect`.
  @inline(__always)
  private var isSuspect: Bool { unansweredProbes >= Self.probesUntilSuspect && isSilent }
  mutating func findMigrations() -> UInt32 { migrations }
  /// Sends everything to `source` from now on.
  mutating func setRoute(_ source: Route) { if source != route { route = source } }
  mutating func findRoute() -> Route? { route }
  /// Returns whether the path is the link that carries messages. `besidesStream` is true if a
  /// stream could carry them instead.
  mutating func carriesMessages(besidesStream: Bool) -> Bool {
    isResponsive || isOpen && !besidesStream
  }
  /// The peer's addresses. Packets from these addresses belong to this path.
  mutating func findEndpoints() -> [Endpoint] {
    route.map { [$0.endpoint] } ?? candidates.map { $0.endpoint }
  }
}

// MARK: - Connecting and migration
extension DatagramPath {
  /// Handles a retry: either the answer to a hello, or a report that the peer does not recognize
  /// this side's address.
  mutating func handleRetry(_ retry: Retry, from source: Route, at now: Instant) {
    guard isInitiator else { return }
    switch stage {
    case .connecting:
      guard retry.keyPrefix == key.prefix else { return }
      route = source
    case .securing, .validating, .validated:
      guard source.endpoint == route?.endpoint, retry.cookie != cookie else { return }
      epoch &+= 1
    }
    // Except during the validation, a retry means that the address of the peer or of this side may
    // have changed, and with it the path (RFC 9000 §9.4).
    if stage != .validating { flow.resetPath(at: now) }
    cookie = retry.cookie
    token = nil
    beginsWithTicket = false
    nextHello = nil
    guard !isSecuring else {
      stage = .securing
      isHandshakeDue = true
      helloDelay = Self.firstHelloDelay
      return
    }
    stage = .validating
    isPingDue = true
  }

  /// Handles a hello that proves the peer's address `source`. A hello is ignored if its epoch is
  /// not greater than that of the path.
  mutating func handleHello(_ hello: Hello, from source: Route, at now: Instant) {
    guard !isInitiator, hello.epoch > epoch, !isSecuring else { return }
    // Everybody may know the key of an encrypted connection.
    if let keys { guard let tag = hello.tag, tag == keys.makeTag(of: hello) else { return } }
    epoch = hello.epoch
    unprovenBudget = nil
    guard source != route else {
      migrations &+= 1  // so that packets from there reach this connection
      return
    }
    let isSameHost = source.endpoint.address == route?.endpoint.address
    route = source
    if !isSameHost { flow.resetPath(at: now) }
    isPingDue = true
    unansweredProbes = 0
  }

  /// Connects again, at the known addresses and those in `more`, after silence, sleep or a change
  /// of network. Without any address, waits for the next call.
  mutating func reconnect(_ more: [Route] = [], at now: Instant) {
    guard isInitiator else { return }
    if let route, !candidates.contains(route) { candidates.insert(route, at: 0) }
    for route in more where !candidates.contains(route) { candidates.append(route) }
    route = nil
    lastReceived = nil
    stage = .connecting
    cookie = nil
    token = nil
    beginsWithTicket = false
    epoch &+= 1
    nextCandidate = 0
    nextHello = candidates.isEmpty ? nil : now
    helloDelay = Self.firstHelloDelay
    unansweredProbes = 0
  }

  /// Forgets all addresses of the peer, and sends nothing until `reconnect` or a hello adds one.
  mutating func suspend(at now: Instant) {
    (route, candidates) = (nil, [])
    lastReceived = nil
    reconnect(at: now)
  }
}

// MARK: - Time
extension DatagramPath {
  /// Performs the actions that are due at `now`.
  mutating func handleTimeout(_ outcome: inout Outcome, at now: Instant) {
    guard isOpen else { return }
    if let next = flow.findTimeout(), now >= next,
      flow.handleTimeout(at: now, lost: &outcome.lost)
    {
      unansweredProbes += 1
      isSilent =
        lastReceived.map { now.nanoseconds - $0.nanoseconds >= Self.silenceUntilSuspect } ?? true
      isPingDue = true
      if isInitiator, unansweredProbes == Self.probesUntilSuspect {
        // The responder may no longer recognize this side's address, so send hellos as well.
        nextHello = now
        helloDelay = Self.firstHelloDelay
      }
    }
    guard let nextKeepAlive, now >= nextKeepAlive else { return }
    lastKeepAlive = now
    isPingDue = true
  }

  /// The time of the next keep-alive ping, or `nil` before the path is validated.
  @inline(__always) private var nextKeepAlive: Instant? {
    guard stage == .validated, let lastReceived else { return nil }
    let first = lastReceived.advanced(byNanoseconds: Self.keepAliveDelay)
    guard let lastKeepAlive, lastKeepAlive >= first else { return first }
    return lastKeepAlive.advanced(byNanoseconds: Self.keepAliveInterval)
  }

  /// Returns the next time at which `handleTimeout` or `pollTransmit` must be called, or `nil` if
  /// no timer is armed. `hasPending` is true if messages are pending that can be sent as soon as
  /// the pacer permits, and `hasUrgent` if some of them may be sent ahead of its schedule.
  mutating func findTimeout(hasPending: Bool, hasUrgent: Bool) -> Instant? {
    guard isOpen, route != nil else { return nextHello }
    var next = Instant(nanoseconds: flow.findDeadline())
    if let deadline = received.acknowledgementDeadline { next = min(next, deadline) }
    if let nextHello { next = min(next, nextHello) }
    if let nextKeepAlive { next = min(next, nextKeepAlive) }
    if hasPending, unprovenBudget.map({ $0 >= Self.minimumAllowance }) ?? true,
      let time = flow.nextSendTime(urgent: hasUrgent)
    {
      next = min(next, time)
    }
    return next == .distantFuture ? nil : next
  }
}
