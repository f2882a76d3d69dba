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
    /// An address has answered, or has been taken from a token without waiting for an answer. A
    /// hello precedes each packet.
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
  static let probesUntilSuspect = 3
  /// The minimum silence, in nanoseconds, before a path is suspect. Unanswered probes alone are not
  /// enough: on a path with a round trip of a millisecond, three consecutive probes are
  /// occasionally lost.
  static let silenceUntilSuspect: Int64 = 250_000_000

  let isInitiator: Bool
  let key: ConnectionKey
  var stage: Stage
  /// The route to the peer; `nil` while connecting.
  private(set) var route: Route? { didSet { migrations &+= 1 } }
  /// The routes on which hellos are sent while connecting.
  var candidates: [Route] { didSet { migrations &+= 1 } }
  /// A counter that changes whenever `endpoints` may have changed.
  private(set) var migrations: UInt32 = 1
  var nextCandidate = 0
  /// The time of the next hello; `nil` if none is scheduled.
  var nextHello: Instant?
  var helloDelay = firstHelloDelay
  var epoch: UInt32
  var cookie: Cookie?
  /// The token that is sent in place of a cookie until the peer answers.
  var token: AddressToken?
  /// The value of `resumes` in this side's hellos: whether the peer must refuse a hello if it does
  /// not recognize the connection.
  var resumes = false
  /// The time at which the last packet was received; `nil` before the first.
  private var lastReceived: Instant?
  private var lastKeepAlive: Instant?
  private var unansweredProbes = 0
  /// Whether the peer had been silent for `silenceUntilSuspect` when the last tail probe was sent.
  private var isSilent = false
  /// Whether the next packet must elicit an acknowledgement.
  var isPingDue = false
  /// Whether an acknowledgement must be sent without delay.
  var isAcknowledgementDue = false
  var flow: DatagramFlow
  var received = ReceivedPackets()
  private var nextWindowGrowth = Instant.zero
  /// The number of packets that were dropped because they were malformed.
  private(set) var malformedPackets = 0

  private init(
    isInitiator: Bool, key: ConnectionKey, stage: Stage, route: Route?, candidates: [Route],
    epoch: UInt32, at now: Instant
  ) {
    self.isInitiator = isInitiator
    self.key = key
    self.stage = stage
    self.route = route
    self.candidates = candidates
    self.epoch = epoch
    let isV6 = (route ?? candidates.first)?.endpoint.address.isV6 ?? true
    flow = DatagramFlow(maximumPayload: isV6 ? 1452 : 1472, at: now)
  }

  /// Creates a path that this side opens to the first of `candidates` that answers. If one of the
  /// candidates has issued `token`, the path tries that candidate first, as if it had answered with
  /// a cookie.
  static func initiating(
    _ candidates: [Route], key: ConnectionKey, token: JoinToken? = nil, at now: Instant
  ) -> DatagramPath {
    let host = token.flatMap { token in candidates.first { $0.endpoint == token.host } }
    var path = DatagramPath(
      isInitiator: true, key: key, stage: host == nil ? .connecting : .validating, route: host,
      candidates: candidates, epoch: 1, at: now)
    path.nextHello = host == nil ? now : now.advanced(byNanoseconds: firstHelloDelay)
    if host != nil { path.token = token?.token }
    return path
  }

  /// Creates a path opened by the peer, whose address has been validated.
  static func responding(
    to hello: Hello, from route: Route, at now: Instant
  ) -> DatagramPath {
    DatagramPath(
      isInitiator: false, key: hello.key, stage: .validated, route: route, candidates: [],
      epoch: hello.epoch, at: now)
  }

  /// Whether an address of the peer has answered. Before that, an address may be known from a token
  /// alone.
  @inline(__always) var hasFoundPeer: Bool { isOpen && token == nil }
  /// Whether messages may be sent on the path.
  @inline(__always) var isOpen: Bool { stage != .connecting }
  /// Whether a packet from the peer was received on the path and nothing indicates that the path
  /// has failed since.
  @inline(__always)
  var isResponsive: Bool { stage != .connecting && lastReceived != nil && !isSuspect }
  /// Whether the path may have failed: at least `probesUntilSuspect` consecutive tail probes went
  /// unanswered, and nothing was received for `silenceUntilSuspect`.
  @inline(__always)
  private var isSuspect: Bool { unansweredProbes >= Self.probesUntilSuspect && isSilent }
  mutating func findMigrations() -> UInt32 { migrations }
  mutating func findRoute() -> Route? { route }
  /// Returns whether the path is the link that carries messages. `besidesStream` is true if a
  /// stream could carry them instead.
  mutating func carriesMessages(besidesStream: Bool) -> Bool {
    isResponsive || isOpen && !besidesStream
  }
  /// The peer's addresses. Packets from these addresses belong to this path.
  mutating func findEndpoints() -> [Endpoint] {
    route.map { [$0.endpoint] } ?? candidates.map(\.endpoint)
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
    case .validating, .validated:
      guard source.endpoint == route?.endpoint, retry.cookie != cookie else { return }
      epoch &+= 1
    }
    // Except during the validation, a retry means that the address of the peer or of this side may
    // have changed, and with it the path (RFC 9000 §9.4).
    if stage != .validating { flow.resetPath(at: now) }
    cookie = retry.cookie
    token = nil
    stage = .validating
    isPingDue = true
    nextHello = nil
  }

  /// Handles a hello that proves the peer's address `source`. A hello whose epoch is not newer is
  /// ignored.
  mutating func handleHello(_ hello: Hello, from source: Route, at now: Instant) {
    guard !isInitiator, hello.epoch > epoch else { return }
    epoch = hello.epoch
    guard source != route else { return }
    let isSameHost = source.endpoint.address == route?.endpoint.address
    route = source
    if !isSameHost { flow.resetPath(at: now) }
    isPingDue = true
    unansweredProbes = 0
  }

  /// Connects again, at the known addresses and those in `more`, after silence, sleep or a change
  /// of network.
  mutating func reconnect(_ more: [Route] = [], at now: Instant) {
    guard isInitiator else { return }
    if let route, !candidates.contains(route) { candidates.insert(route, at: 0) }
    for route in more where !candidates.contains(route) { candidates.append(route) }
    route = nil
    lastReceived = nil
    stage = .connecting
    cookie = nil
    token = nil
    epoch &+= 1
    nextCandidate = 0
    nextHello = now
    helloDelay = Self.firstHelloDelay
    unansweredProbes = 0
  }
}

// MARK: - Receiving
extension DatagramPath {
  /// The records of the frames that were acknowledged or declared lost while a packet or a timeout
  /// was handled.
  struct Outcome: Sendable {
    var acknowledged: [FrameRecord] = []
    var lost: [FrameRecord] = []

    mutating func removeAll() {
      acknowledged.clear()
      lost.clear()
    }
  }

  /// Handles a data packet and adds its messages to `channels` or, if they can be read at once, to
  /// `arrivals`. Returns whether the packet was accepted.
  ///
  /// A malformed packet is dropped and not acknowledged. `allowsMessages` is false after the
  /// connection has ended and, on the responder's side, before the grant. A packet that contains an
  /// application message is then not acknowledged either, but the acknowledgements in it are
  /// processed. Before this side has sent a packet, all packets are dropped, because they belong to
  /// an earlier connection between the same endpoints.
  mutating func receive(
    _ packet: Span<UInt8>, _ channels: inout ChannelSet, allowsMessages: Bool,
    into arrivals: inout Arrivals, _ scratch: inout Scratch, at now: Instant
  ) -> Bool {
    guard stage != .connecting || flow.nextNumber > 0 else { return false }
    do throws(DecodeError) {
      var reader = PacketReader(packet)
      let header = try DataHeader(decoding: &reader)
      let number = header.expanded(after: received.largest)
      guard !received.isSeen(number) else { return false }
      if let short = header.acknowledgement, received.largest.map({ number > $0 }) ?? true {
        // The short acknowledgement of an older packet contains nothing new.
        scratch.ranges.setShort(largest: short.expanded(after: flow.largestAcknowledged))
        try handleAcknowledgement(short.ackDelay, &scratch, at: now)
      }
      var isAckEliciting = false
      var hasForbiddenMessage = false
      var frames = FrameReader(reader)
      while let frame = try frames.next(ranges: &scratch.ranges) {
        if frame.isAckEliciting { isAckEliciting = true }
        switch frame {
        case .message(let message):
          guard allowsMessages || message.channel == SessionWire.controlChannel else {
            hasForbiddenMessage = true
            continue
          }
          let offset = frames.offset - message.payload.count
          try channels.receive(message, at: offset, into: &arrivals)
        case .credit(let channel, let limit):
          channels.handleCredit(channel: channel, limit: limit)
        case .acknowledgement(let ackDelay):
          try handleAcknowledgement(ackDelay, &scratch, at: now)
        case .ping, .padding: break
        }
      }
      if hasForbiddenMessage { return false }
      _ = received.insert(number, isAckEliciting: isAckEliciting, at: now)
      recordSignOfLife(at: now)
      growWindows(&channels, at: now)
      return true
    } catch {
      malformedPackets += 1
      return false
    }
  }

  /// Grows the receive windows at most once per round trip.
  private mutating func growWindows(_ channels: inout ChannelSet, at now: Instant) {
    guard now >= nextWindowGrowth, flow.roundTrip.hasSample else { return }
    let roundTrip = flow.roundTrip.smoothed
    channels.growWindows(roundTrip: roundTrip, at: now)
    nextWindowGrowth = now.advanced(byNanoseconds: roundTrip)
  }

  /// Handles an acknowledgement of the packets in `scratch.ranges`.
  private mutating func handleAcknowledgement(
    _ ackDelay: AckDelay, _ scratch: inout Scratch, at now: Instant
  ) throws(DecodeError) {
    guard
      flow.handle(
        scratch.ranges, ackDelay: ackDelay.nanoseconds, at: now,
        acknowledged: &scratch.outcome.acknowledged, lost: &scratch.outcome.lost)
    else { throw .invalid(what: "acknowledgement of a packet that was never sent") }
  }

  private mutating func recordSignOfLife(at now: Instant) {
    lastReceived = now
    unansweredProbes = 0
    isSilent = false
    // While connecting, this side's own address may have changed, so hellos must continue.
    guard stage != .connecting else { return }
    nextHello = nil
    token = nil
    stage = .validated
  }

  /// Handles the acknowledgement of a packet that itself contained an acknowledgement. The peer has
  /// received the ranges in that acknowledgement, so they need not be reported again.
  mutating func handleAcknowledged(_ record: FrameRecord) {
    received.confirmAcknowledgement(upTo: record.number)
  }

  /// Sends an acknowledgement at the next opportunity instead of waiting for more packets.
  mutating func acknowledgeNow() { isAcknowledgementDue = true }

  /// Sends an ack-eliciting packet at the next opportunity.
  mutating func ping() { isPingDue = true }

  /// Declares all unacknowledged packets lost, because another link carries their messages now.
  mutating func abandonAll(_ outcome: inout Outcome) { flow.abandonAll(lost: &outcome.lost) }
}

// MARK: - Time
extension DatagramPath {
  /// Performs the actions that are due at `now`.
  mutating func handleTimeout(_ outcome: inout Outcome, at now: Instant) {
    guard stage != .connecting else { return }
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
    guard stage != .connecting else { return nextHello }
    var next = earliest(flow.findTimeout(), received.acknowledgementDeadline)
    next = earliest(next, nextHello)
    next = earliest(next, nextKeepAlive)
    return hasPending ? earliest(next, flow.nextSendTime(urgent: hasUrgent)) : next
  }
}
