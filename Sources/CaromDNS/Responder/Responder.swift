import CaromCore

/// Publishes services on several links: claims their names, answers for them, and says goodbye
/// (RFC 6762 §6-§10, RFC 6763). Polled.
package struct Responder: Sendable {
  /// What the user is told.
  package enum Event: Hashable, Sendable {
    /// The service is visible under this name, on every link.
    case published(PublicationID, name: String)
    /// It is visible under a new name: it lost its own to another host, or was given this one.
    case renamed(PublicationID, name: String)
    /// It is not visible any more: the last event of a publication.
    case failed(PublicationID, PublicationError)
    /// The host's name was taken, and this is the new one.
    case hostRenamed(String)
  }

  /// What was done and left undone, and how much work it was.
  package struct Counters: Hashable, Sendable {
    /// Records that were looked at to answer questions.
    package var examined = 0
    /// Unicast answers that were not sent, or became multicasts, since the budget was used up.
    package var withheld = 0
    /// Multicast answers that had to wait for the budget.
    package var delayed = 0
    /// Packets of known answers beyond the limit of one asker or of all.
    package var unassembled = 0
    /// Questions and unicast responses that came from outside the link.
    package var offLink = 0
  }

  enum Timer: Hashable, Sendable {
    case claim(PublicationID, link: UInt32)
    case update(PublicationID)
    case request(Endpoint, link: UInt32)
  }

  /// The services that one responder publishes, at most.
  package static let publicationLimit = 1024
  /// Records that were replaced and are remembered: all of the unique ones, twice over.
  static let echoLimit = 4 * publicationLimit
  /// Own records that were replaced are no conflict for so long: their echo may be on its way.
  static let echoLife = Duration.seconds(3)
  /// The first probe waits a random time up to this (RFC 6762 §8.1).
  static let probeDelay: ClosedRange<Duration> = .zero ... .milliseconds(250)

  var claims: [PublicationID: Claim] = [:]
  /// Which claim has a name.
  var names: [Name: PublicationID] = [:]
  var links: [ResponderLink] = []
  var generator: SeededGenerator
  var timers = DeadlineQueue<Timer>()
  /// Own records that were replaced, and until when.
  var former: [Record.Identity: Instant] = [:]
  /// When new names are probed next: all that come before go together.
  var probeStart = Instant.zero
  /// What was done and left undone.
  package internal(set) var counters = Counters()
  private var outbox = Deque<Transmit>()
  private var events = Deque<Event>()
  private var nextNumber = PublicationID.uniqueHost.number + 1

  /// A responder of the host `hostLabel`.local; what may not stand in a host's name becomes a
  /// hyphen. `isHostUnique` says that nobody else can have that name, so that it need not be asked
  /// for.
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

  /// The host's name as it is now.
  package var hostName: Name { name(of: .host) }

  /// The next packet to send; poll until `nil` after each call that changes something.
  package mutating func pollTransmit() -> Transmit? { outbox.popFirst() }

  /// The next event; poll until `nil` after each call that changes something.
  package mutating func pollEvent() -> Event? { events.popFirst() }

  /// When `handleTimeout` has something to do, or a little earlier.
  package var nextTimeout: Instant? {
    links.reduce(timers.nextDeadline) { earliest($0, $1.nextTimeout) }
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

  func place(of link: UInt32) -> Int? { links.firstIndex { $0.link.index == link } }

  /// The name of a host of ours.
  func name(of host: PublicationID) -> Name { claims[host]?.name ?? .root }

  /// The services, in the order in which they were published.
  var serviceIDs: [PublicationID] {
    claims.keys.filter { $0 > .uniqueHost }.sorted()
  }

  /// How many services there are.
  var serviceCount: Int { claims.count - 2 }
}
