import CaromCore

/// Publishes services on several links: claims their names, answers for them, and says goodbye
/// (RFC 6762 §6-§10, RFC 6763). Polled.
package struct Responder: Sendable {
  /// What the user is told.
  package enum Event: Hashable, Sendable {
    /// The service is visible under this name, on every link.
    case published(PublicationID, name: String)
    /// It lost its name to another host and is visible under a new one.
    case renamed(PublicationID, name: String)
    /// Its name is taken: it may not be renamed, or no free name was found within a minute.
    case failed(PublicationID)
    /// The host's name was taken, and this is the new one.
    case hostRenamed(String)
  }

  /// The services that one responder publishes, at most.
  package static let publicationLimit = 1024
  /// The first probe waits a random time up to this (RFC 6762 §8.1).
  static let probeDelay: ClosedRange<Duration> = .zero ... .milliseconds(250)
  /// Own records that were replaced are no conflict for so long: their echo may be on its way.
  static let echoLife = Duration.seconds(3)
  /// Replaced records that are remembered.
  static let echoLimit = 64

  var host: Claim
  var services: [Claim] = []
  var links: [LinkState] = []
  var generator: SeededGenerator
  /// Whether unicast answers reach this process: nobody shares the port (RFC 6762 §15.1).
  let asksUnicast: Bool
  /// Own records that were replaced, for `echoLife`.
  var former: [(identity: Record.Identity, until: Instant)] = []
  private var outbox: [Outgoing] = []
  private var outboxStart = 0
  private var events: [Event] = []
  private var nextNumber: UInt64 = 1

  /// A responder of the host `hostLabel`.local, 1 to 63 bytes.
  package init(hostLabel: String, generator: SeededGenerator, asksUnicast: Bool = false) {
    self.asksUnicast = asksUnicast
    host = Claim(id: .host, purpose: .host, label: hostLabel)
    self.generator = generator
  }

  /// The host's name as it is now.
  package var hostName: Name { host.name }

  /// The next packet to send; poll until `nil` after each call that changes something.
  package mutating func pollTransmit() -> Outgoing? {
    guard outboxStart < outbox.count else {
      outbox.removeAll(keepingCapacity: true)
      outboxStart = 0
      return nil
    }
    defer { outboxStart += 1 }
    return outbox[outboxStart]
  }

  /// The next event; poll until `nil` after each call that changes something.
  package mutating func pollEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  /// When `handleTimeout` has something to do.
  package var nextTimeout: Instant? {
    var next = host.progress.reduce(nil) { earliest($0, $1.state.nextTimeout) }
    for service in services {
      next = service.progress.reduce(next) { earliest($0, $1.state.nextTimeout) }
    }
    for link in links { next = link.pending.reduce(next) { earliest($0, $1.due) } }
    return next
  }

  mutating func transmit(_ payload: [UInt8], to destination: Endpoint, on link: Link) {
    outbox.append(Outgoing(payload: payload, destination: destination, interface: link.index))
  }

  mutating func multicast(_ payload: [UInt8], on link: Link) {
    for group in link.groups { transmit(payload, to: group, on: link) }
  }

  mutating func emit(_ event: Event) { events.append(event) }

  mutating func makeID() -> PublicationID {
    defer { nextNumber += 1 }
    return PublicationID(number: nextNumber)
  }
}

// MARK: - Intents

extension Responder {
  /// Publishes a service: events follow. Its name is claimed on every link first.
  package mutating func publish(_ service: Registration, at now: Instant) -> PublicationID {
    precondition(services.count < Self.publicationLimit, "at most 1,024 services a responder")
    let claim = Claim(id: makeID(), purpose: .service(service), label: service.instance)
    services.append(claim)
    let start = now.advanced(by: generator.duration(in: Self.probeDelay))
    for index in links.indices {
      let link = links[index].link.index
      if host.state(on: link) == nil { host.set(.probing(Prober(start: start)), on: link) }
      services[services.count - 1].set(.probing(Prober(start: start)), on: link)
    }
    return claim.id
  }

  /// Changes the strings beside a service, and says so on every link where it is known.
  package mutating func update(_ id: PublicationID, text: TXTRecord, at now: Instant) {
    guard let index = services.firstIndex(where: { $0.id == id }),
      case .service(var service) = services[index].purpose, service.text != text
    else { return }
    remember(services[index], at: now)
    service.text = text
    services[index].purpose = .service(service)
    rebuild()
    announceAgain(at: index, at: now)
  }

  func announcement(at index: Int) -> [UInt32] {
    services[index].progress.filter { $0.state.isOwned }.map(\.link)
  }

  mutating func announceAgain(at index: Int, at now: Instant) {
    for link in announcement(at: index) {
      services[index].set(.announcing(Announcer(start: now)), on: link)
    }
    handleTimeout(at: now)
  }

  /// Takes a service back: its records' goodbyes are ready to send when this returns.
  package mutating func withdraw(_ id: PublicationID, at now: Instant) {
    guard let index = services.firstIndex(where: { $0.id == id }) else { return }
    let before = links.map(\.records)
    services.remove(at: index)
    if services.isEmpty { host.progress = [] }
    rebuild()
    sendGoodbyes(before)
  }

  /// Takes everything back.
  package mutating func withdrawAll(at now: Instant) {
    for service in services { withdraw(service.id, at: now) }
  }

  /// Tells of an interface, or of its new addresses: names are claimed there anew.
  package mutating func setLink(_ link: Link, at now: Instant) {
    if let index = links.firstIndex(where: { $0.link.index == link.index }) {
      guard links[index].link != link else { return }
      remember(host, at: now)
      links[index].link = link
      links[index].lastSent = [:]
    } else {
      links.append(LinkState(link))
      links.sort { $0.link.index < $1.link.index }
    }
    guard !services.isEmpty else { return }
    let start = now.advanced(by: generator.duration(in: Self.probeDelay))
    host.set(.probing(Prober(start: start)), on: link.index)
    for index in services.indices {
      services[index].set(.probing(Prober(start: start)), on: link.index)
    }
    rebuild()
  }

  /// An interface is gone.
  package mutating func removeLink(_ index: UInt32) {
    links.removeAll { $0.link.index == index }
    host.progress.removeAll { $0.link == index }
    for service in services.indices { services[service].progress.removeAll { $0.link == index } }
    rebuild()
  }

  /// Records that are about to be replaced: their echo is no conflict.
  mutating func remember(_ claim: Claim, at now: Instant) {
    former.removeAll { $0.until < now }
    for link in links {
      for record in records(of: claim, on: link.link) where record.isUnique {
        former.append((record.record.identity, now.advanced(by: Self.echoLife)))
      }
    }
    former.removeFirst(max(0, former.count - Self.echoLimit))
  }
}
