import CaromCore

/// Responder and querier of one process over the same sockets: what a shell or a simulation
/// drives. Polled: after each call, send what `pollTransmit` gives, take what `pollEvent`
/// gives, and call `handleTimeout` at `nextTimeout`.
package struct MulticastDNS: Sendable {
  /// What the user is told.
  package enum Event: Hashable, Sendable {
    case responder(Responder.Event)
    case querier(Querier.Event)
  }

  /// What came in and was not used, by reason.
  package struct Counters: Hashable, Sendable {
    /// No DNS message, or one over a limit.
    package var malformed = 0
    /// An opcode or a response code that multicast DNS does not have.
    package var notStandard = 0
    /// A response from a port other than 5353.
    package var foreignPort = 0
  }

  var responder: Responder
  var querier: Querier
  /// What was not used.
  package private(set) var counters = Counters()
  private var linkIndices: [UInt32] = []

  /// A node of the host `hostLabel`.local; `isHostUnique` says that nobody else can have that
  /// name, such as a random one, so that it need not be asked for.
  package init(
    hostLabel: String, isHostUnique: Bool = false, generator: SeededGenerator
  ) {
    var generator = generator
    responder = Responder(
      hostLabel: hostLabel, isHostUnique: isHostUnique, generator: generator.split())
    querier = Querier(generator: generator.split())
  }

  /// The host's name as it is now.
  package var hostName: Name { responder.hostName }

  /// All links as they are now: names are claimed and questions asked on what is new, and what
  /// was heard on links that are gone is forgotten.
  package mutating func setLinks(_ links: [Link], at now: Instant) {
    for index in linkIndices where !links.contains(where: { $0.index == index }) {
      responder.removeLink(index, at: now)
      querier.removeLink(index, at: now)
    }
    for link in links {
      responder.setLink(link, at: now)
      querier.setLink(link, at: now)
    }
    linkIndices = links.map(\.index)
  }

  /// A packet came in.
  package mutating func handle(_ datagram: Datagram, at now: Instant) {
    guard let message = try? Message(decoding: datagram.payload) else {
      counters.malformed += 1
      return
    }
    guard message.isStandard else {
      counters.notStandard += 1
      return
    }
    guard message.isResponse else {
      responder.handleQuery(message, from: datagram, at: now)
      querier.handleQuery(message, from: datagram, at: now)
      return
    }
    guard datagram.source.port == MulticastGroup.port else {
      counters.foreignPort += 1
      return
    }
    responder.handleResponse(message, from: datagram, at: now)
    querier.handleResponse(message, from: datagram, at: now)
  }

  /// Time has passed.
  package mutating func handleTimeout(at now: Instant) {
    responder.handleTimeout(at: now)
    querier.handleTimeout(at: now)
  }

  /// The next packet to send; `nil` when there is none.
  package mutating func pollTransmit() -> Transmit? {
    responder.pollTransmit() ?? querier.pollTransmit()
  }

  /// The next event; `nil` when there is none.
  package mutating func pollEvent() -> Event? {
    if let event = responder.pollEvent() { return .responder(event) }
    return querier.pollEvent().map(Event.querier)
  }

  /// When `handleTimeout` has something to do; `nil` for never.
  package var nextTimeout: Instant? { earliest(responder.nextTimeout, querier.nextTimeout) }
}
