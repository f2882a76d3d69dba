import CaromCore

/// A connection's way over datagrams (UDP): finding the other end and proving that this one is
/// where it says, then data packets with loss detection and congestion control.
///
/// The side that calls says hello to every address it was given, padded, until one answers with a
/// cookie; then it puts hello and cookie before its packets until the other side is heard. That
/// is how a path begins, and how it moves to a new address.
struct DatagramPath: Sendable {
  enum Stage: Hashable {
    /// Nobody answered yet.
    case calling
    /// An address answered: the next packets carry its cookie.
    case proving
    /// Both ends have heard each other.
    case answered
  }

  /// Between hellos to one address after another.
  static let candidateDelay: Int64 = 50_000_000
  /// Between rounds of hellos at first; it grows by half each time.
  static let firstHelloDelay: Int64 = 200_000_000
  static let longestHelloDelay: Int64 = 1_000_000_000
  /// Both sides say something every second: after so long a silence this one asks, again and again,
  /// so that a burst of losses is not taken for the end.
  static let silenceUntilAsking: Int64 = 1_250_000_000
  static let askingInterval: Int64 = 50_000_000
  /// After so many tail probes without an answer another link is taken, if there is one.
  static let probesUntilSuspect = 3
  /// And after so long: on a path of a millisecond three probes in a row are lost now and then.
  static let silenceUntilSuspect: Int64 = 250_000_000
  let isCaller: Bool
  let key: ConnectionKey
  var stage: Stage
  /// Where the other end is.
  private(set) var way: Route? { didSet { moves &+= 1 } }
  var candidates: [Route] { didSet { moves &+= 1 } }
  /// How often its addresses have changed.
  private(set) var moves: UInt32 = 1
  var nextCandidate = 0
  var helloAt: Instant?
  private var askedAt: Instant?
  var helloDelay = firstHelloDelay
  private(set) var epoch: UInt32
  var cookie: Cookie?
  /// What stands for a cookie until somebody answers.
  private(set) var token: AddressToken?
  /// Whether the other side has to know the connection already.
  var resumes = false
  private(set) var heardAt: Instant?
  private(set) var probesUnanswered = 0
  /// Whether nothing had come for `silenceUntilSuspect` at the last probe.
  private var isSilent = false
  var owesPing = false
  var owesAcknowledgement = false
  var flow: DatagramFlow
  var received = ReceivedPackets()
  private var nextGrowth = Instant.zero
  /// Packets that made no sense and were dropped whole.
  private(set) var malformedPackets = 0

  init(
    isCaller: Bool, key: ConnectionKey, stage: Stage, way: Route?, candidates: [Route],
    epoch: UInt32, at now: Instant
  ) {
    self.isCaller = isCaller
    self.key = key
    self.stage = stage
    self.way = way
    self.candidates = candidates
    self.epoch = epoch
    cookie = nil
    let isV6 = (way ?? candidates.first)?.endpoint.address.isV6 ?? true
    flow = DatagramFlow(maximumPayload: isV6 ? 1452 : 1472, at: now)
  }

  /// A path that this side opens to the first of `candidates` that answers; to the one that gave
  /// it `token` before it asks the others, as if that had answered with a cookie.
  static func calling(
    _ candidates: [Route], key: ConnectionKey, token: JoinToken? = nil, at now: Instant
  ) -> DatagramPath {
    let host = token.flatMap { token in candidates.first { $0.endpoint == token.host } }
    var path = DatagramPath(
      isCaller: true, key: key, stage: host == nil ? .calling : .proving, way: host,
      candidates: candidates, epoch: 1, at: now)
    path.helloAt = host == nil ? now : now.advanced(byNanoseconds: firstHelloDelay)
    if host != nil { path.token = token?.token }
    return path
  }

  /// A path that the other side opened, and proved.
  static func called(_ hello: Hello, from way: Route, at now: Instant) -> DatagramPath {
    DatagramPath(
      isCaller: false, key: hello.key, stage: .answered, way: way, candidates: [],
      epoch: hello.epoch, at: now)
  }

  /// Whether an address was found where somebody is, and not only one where somebody was.
  var isFound: Bool { isOpen && token == nil }
  /// Whether messages may go this way.
  var isOpen: Bool { stage != .calling }
  /// Whether the other side has been heard on it, and nothing says that it is gone.
  var isAnswered: Bool { stage != .calling && heardAt != nil && !isSuspect }
  var isSuspect: Bool { probesUnanswered >= Self.probesUntilSuspect && isSilent }
  /// Every address whose packets belong to this path.
  var endpoints: [Endpoint] { way.map { [$0.endpoint] } ?? candidates.map(\.endpoint) }
}

// MARK: - Where the other end is
extension DatagramPath {
  /// An address answered a hello, or does not know this side's address any more.
  mutating func handleRetry(_ retry: Retry, from source: Route, at now: Instant) {
    guard isCaller else { return }
    switch stage {
    case .calling:
      guard retry.keyPrefix == key.prefix else { return }
      way = source
    case .proving, .answered:
      guard source.endpoint == way?.endpoint, retry.cookie != cookie else { return }
      epoch &+= 1
    }
    cookie = retry.cookie
    token = nil
    stage = .proving
    owesPing = true
    helloAt = nil
  }

  /// The other side proved that it is at `source`; `false` when that is old news.
  mutating func handleHello(
    _ hello: Hello, from source: Route, at now: Instant
  ) -> Bool {
    guard !isCaller, hello.epoch > epoch else { return false }
    epoch = hello.epoch
    guard source != way else { return false }
    let isSameHost = source.endpoint.address == way?.endpoint.address
    way = source
    if !isSameHost { flow.pathChanged(at: now) }
    owesPing = true
    probesUnanswered = 0
    return true
  }

  /// Begins anew, at the addresses it has: after silence, sleep or a change of network.
  mutating func callAgain(_ more: [Route] = [], at now: Instant) {
    guard isCaller else { return }
    if let way, !candidates.contains(way) { candidates.insert(way, at: 0) }
    for way in more where !candidates.contains(way) { candidates.append(way) }
    way = nil
    heardAt = nil
    stage = .calling
    cookie = nil
    token = nil
    epoch &+= 1
    nextCandidate = 0
    helloAt = now
    helloDelay = Self.firstHelloDelay
    probesUnanswered = 0
  }

  var hello: Hello {
    Hello(key: key, epoch: epoch, resumes: resumes, cookie: cookie, token: token)
  }
}

// MARK: - What comes in
extension DatagramPath {
  /// What a packet's records became.
  struct Outcome: Sendable {
    var acknowledged: [FrameRecord] = []
    var lost: [FrameRecord] = []

    mutating func removeAll() {
      if !acknowledged.isEmpty { acknowledged.removeAll(keepingCapacity: true) }
      if !lost.isEmpty { lost.removeAll(keepingCapacity: true) }
    }
  }

  /// Takes a data packet; messages go into `channels`. What makes no sense is dropped, and not
  /// acknowledged. Messages of the application are left where they are not allowed, before the
  /// grant and behind the end: their packet is not acknowledged, but what it acknowledges counts.
  /// Says whether the packet was taken.
  mutating func receive(
    _ packet: Span<UInt8>, _ channels: inout ChannelSet, allowsMessages: Bool,
    _ scratch: inout Scratch, at now: Instant
  ) -> Bool {
    do throws(DecodeError) {
      var reader = PacketReader(packet)
      let header = try DataHeader(decoding: &reader)
      let number = header.expanded(after: received.largest)
      guard !received.isSeen(number) else { return false }
      if let short = header.acknowledgement, received.largest.map({ number > $0 }) ?? true {
        // That of an older packet tells nothing new.
        scratch.ranges.setShort(largest: short.expanded(after: flow.largestAcknowledged))
        try take(short.ackDelay, &scratch, at: now)
      }
      var isAckEliciting = false
      var leavesMessages = false
      var frames = FrameReader(reader)
      while let frame = try frames.next(ranges: &scratch.ranges) {
        if frame.isAckEliciting { isAckEliciting = true }
        switch frame {
        case .message(let message):
          guard allowsMessages || message.channel == SessionWire.controlChannel else {
            leavesMessages = true
            continue
          }
          try channels.receive(message, at: now)
        case .credit(let channel, let limit):
          channels.handleCredit(channel: channel, limit: limit)
        case .acknowledgement(let ackDelay):
          try take(ackDelay, &scratch, at: now)
        case .ping, .padding: break
        }
      }
      if leavesMessages { return false }
      _ = received.insert(number, isAckEliciting: isAckEliciting, at: now)
      heard(at: now)
      growWindows(&channels, at: now)
      return true
    } catch {
      malformedPackets += 1
      return false
    }
  }

  /// About once a round trip.
  private mutating func growWindows(_ channels: inout ChannelSet, at now: Instant) {
    guard now >= nextGrowth, flow.roundTrip.hasSample else { return }
    let roundTrip = flow.roundTrip.smoothed
    channels.growWindows(roundTrip: roundTrip, at: now)
    nextGrowth = now.advanced(byNanoseconds: roundTrip)
  }

  /// Takes the acknowledgement that stands in the ranges.
  private mutating func take(
    _ ackDelay: AckDelay, _ scratch: inout Scratch, at now: Instant
  ) throws(DecodeError) {
    guard
      flow.handle(
        scratch.ranges, ackDelay: ackDelay.nanoseconds, at: now,
        acknowledged: &scratch.outcome.acknowledged, lost: &scratch.outcome.lost)
    else { throw .invalid(what: "acknowledgement of a packet that was never sent") }
  }

  private mutating func heard(at now: Instant) {
    heardAt = now
    probesUnanswered = 0
    isSilent = false
    guard stage != .calling else { return }  // its own address may have changed all the same
    helloAt = nil
    token = nil
    stage = .answered
  }

  /// An acknowledgement that was acknowledged itself: what it told need not be told again.
  mutating func handleAcknowledged(_ record: FrameRecord) {
    received.acknowledgementWasAcknowledged(upTo: record.number)
  }

  /// Does not wait for more to be acknowledged.
  mutating func acknowledgeNow() { owesAcknowledgement = true }

  /// Wants a sign of life.
  mutating func ping() { owesPing = true }

  /// Time has come to `nextTimeout`.
  mutating func handleTimeout(_ outcome: inout Outcome, at now: Instant) {
    guard stage != .calling else { return }
    if let next = flow.findTimeout(), now >= next,
      flow.handleTimeout(at: now, lost: &outcome.lost) != nil
    {
      probesUnanswered += 1
      isSilent =
        heardAt.map { now.nanoseconds - $0.nanoseconds >= Self.silenceUntilSuspect } ?? true
      owesPing = true
      if isCaller, probesUnanswered == Self.probesUntilSuspect { introduceAgain(at: now) }
    }
    guard let asking = askingTime, now >= asking else { return }
    askedAt = now
    owesPing = true
  }

  /// When this side asks for a sign of life, since none came.
  @inline(__always) private var askingTime: Instant? {
    guard stage == .answered, let heardAt else { return nil }
    let first = heardAt.advanced(byNanoseconds: Self.silenceUntilAsking)
    guard let askedAt, askedAt >= first else { return first }
    return askedAt.advanced(byNanoseconds: Self.askingInterval)
  }

  /// The other side may know this one under another address: hellos go along with what else is
  /// sent, until it is heard.
  private mutating func introduceAgain(at now: Instant) {
    helloAt = now
    helloDelay = Self.firstHelloDelay
  }

  /// When `handleTimeout` or `pollTransmit` has to be called; `hasPending` is whether messages wait
  /// that only time holds back.
  mutating func findTimeout(hasPending: Bool) -> Instant? {
    guard stage != .calling else { return helloAt }
    let own = earliest(
      earliest(flow.findTimeout(), received.acknowledgementDeadline),
      earliest(helloAt, askingTime))
    return hasPending ? earliest(own, flow.nextSendTime()) : own
  }

  /// Nothing that is outstanding will be heard of: another link carries it.
  mutating func abandonAll(_ outcome: inout Outcome) { flow.abandonAll(lost: &outcome.lost) }
}
