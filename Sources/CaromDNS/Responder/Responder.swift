import CaromCore

/// Publishes services on several links: claims their names, answers queries for them, and sends
/// goodbye records (RFC 6762 §6-§10, RFC 6763).
package struct Responder: Sendable {
  /// An event that the responder reports to its caller.
  package enum Event: Hashable, Sendable {
    /// The service is published under this name on every link.
    case published(PublicationID, name: String)
    /// The service is published under a new name, after a conflict or a call to `rename`.
    case renamed(PublicationID, name: String)
    /// The publication failed, and the service is no longer published. No further events of the
    /// publication follow.
    case failed(PublicationID, PublicationError)
    /// Another host has taken this host's name. The given label is this host's new name.
    case hostRenamed(String)
  }

  /// Counts of the records that the responder examined, and of the answers and packets that it
  /// limited or ignored.
  package struct Counters: Hashable, Sendable {
    /// The number of records examined to answer questions.
    package var examined = 0
    /// The number of unicast answers that the rate limit dropped or replaced with multicast
    /// answers.
    package var withheld = 0
    /// The number of multicast answers that the rate limit delayed.
    package var delayed = 0
    /// The number of known-answer packets that exceeded the limit for one querier or for all
    /// queriers.
    package var unassembled = 0
    /// The number of queries and unicast responses from outside the link.
    package var offLink = 0
  }

  enum Timer: Hashable, Sendable {
    case claim(PublicationID, link: UInt32)
    case request(Endpoint, link: UInt32)
  }

  /// The maximum number of services that one responder publishes.
  package static let publicationLimit = 1024
  /// The maximum number of replaced records that are remembered: twice the number of unique records
  /// that `publicationLimit` services have.
  static let echoLimit = 4 * publicationLimit
  /// The time for which a replaced record is not treated as a conflict, because its echo may still
  /// arrive.
  static let echoLife = Duration.seconds(3)

  /// The delay before the goodbye records of a withdrawn publication are sent. Those of further
  /// publications that are withdrawn in the meantime are sent in the same messages.
  package static let goodbyeDelay = Duration.milliseconds(20)

  var claims: [PublicationID: Claim] = [:]
  /// The id of the claim to each name.
  var names: [Name: PublicationID] = [:]
  var links: [ResponderLink] = []
  var generator: SeededGenerator
  var timers = DeadlineQueue<Timer>()
  /// The records that this host has replaced, with the time until which each is remembered.
  var replacedRecords: [Record.Identity: Instant] = [:]
  /// The time at which new names are first probed for. All names that are added before this time
  /// share it.
  var probeStart = Instant.zero
  /// The goodbye records of publications that have ended, and the time at which to send them, or
  /// nil if there are none.
  var pendingGoodbyes = Goodbyes()
  var goodbyeTime: Instant?
  /// The responder's counters.
  package internal(set) var counters = Counters()
  private var outbox = Deque<Transmit>()
  private var events = Deque<Event>()
  private var nextNumber = PublicationID.uniqueHost.number + 1

  /// Creates a responder for the host `hostLabel`.local; characters that are not allowed in a host
  /// name become hyphens. Set `isHostUnique` if that name is known to be unique; it is then
  /// announced without probing.
  package init(hostLabel: String, isHostUnique: Bool = false, generator: SeededGenerator) {
    self.generator = generator
    let random = String(self.generator.next(), radix: 36)
    for (id, label, isUnique) in [
      (PublicationID.host, InstanceName.hostLabel(from: hostLabel), isHostUnique),
      (.uniqueHost, "carom-" + random, true),
    ] {
      let claim = Claim(id: id, purpose: .host(isUnique: isUnique), label: label, target: .root)
      claims[id] = claim
      names[claim.name] = id
    }
  }

  /// Whether goodbye records of withdrawn publications are still waiting to be sent.
  package var hasPendingGoodbyes: Bool { goodbyeTime != nil }

  /// The host's current name.
  package var hostName: Name { name(of: .host) }

  /// Removes and returns the next datagram to send, or returns nil if there is none. Poll until nil
  /// after each mutating call.
  package mutating func pollTransmit() -> Transmit? { outbox.popFirst() }

  /// Removes and returns the next event, or returns nil if there is none. Poll until nil after each
  /// mutating call.
  package mutating func pollEvent() -> Event? { events.popFirst() }

  /// The next time at which `handleTimeout` must be called, or nil if no timer is armed. A stale
  /// timer can make the time earlier than necessary.
  package var nextTimeout: Instant? {
    links.reduce(earliest(timers.nextDeadline, goodbyeTime)) { earliest($0, $1.nextTimeout) }
  }

  mutating func transmit(_ payload: [UInt8], to destination: Endpoint, on link: Link) {
    outbox.append(Transmit(payload: payload, destination: destination, interface: link.index))
  }

  mutating func multicast(_ payload: [UInt8], on link: Link) {
    for group in link.groups { transmit(payload, to: group, on: link) }
  }

  mutating func emit(_ event: Event) { events.append(event) }

  mutating func makeID() -> PublicationID {
    defer { nextNumber += 1 }
    return PublicationID(number: nextNumber)
  }

  func index(of link: UInt32) -> Int? { links.firstIndex { $0.link.index == link } }

  /// Returns the current name of one of this responder's host claims.
  func name(of host: PublicationID) -> Name { claims[host]?.name ?? .root }

  /// The services, in the order in which they were published.
  var serviceIDs: [PublicationID] {
    claims.keys.filter { $0 > .uniqueHost }.sorted()
  }

  /// The number of services: all claims except the two for host names.
  var serviceCount: Int { claims.count - 2 }
}
