import CaromCore

/// A multicast DNS node: a responder and a querier that share the sockets of one process.
///
/// The node is polled. After each call, send the datagrams from `pollTransmit`, handle the events
/// from `pollEvent`, and call `handleTimeout` at `nextTimeout`.
package struct MulticastDNS: Sendable {
  /// An event that the responder or the querier reports.
  package enum Event: Hashable, Sendable {
    case responder(Responder.Event)
    case querier(Querier.Event)
  }

  /// The number of received datagrams that were ignored, for each reason.
  package struct Counters: Hashable, Sendable {
    /// The number of datagrams that are not valid DNS messages or exceed a limit.
    package var malformed = 0
    /// The number of messages with a nonzero opcode or response code, which multicast DNS does not
    /// use.
    package var notStandard = 0
    /// The number of responses from a source port other than 5353.
    package var foreignPort = 0
  }

  var responder: Responder
  var querier: Querier
  /// The counters of ignored datagrams.
  package private(set) var counters = Counters()
  private var linkIndices: [UInt32] = []

  /// Creates a node for the host `hostLabel`.local. Set `isHostUnique` if no other host can have
  /// that label, for example because it is random; the name is then announced without probing.
  package init(
    hostLabel: String, isHostUnique: Bool = false, generator: SeededGenerator
  ) {
    var generator = generator
    responder = Responder(
      hostLabel: hostLabel, isHostUnique: isHostUnique, generator: generator.split())
    querier = Querier(generator: generator.split())
  }

  /// The host's current name.
  package var hostName: Name { responder.hostName }

  /// Sets the current links. Names are claimed and questions are asked on new links, and records
  /// received on removed links are discarded.
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

  /// Handles a received datagram.
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

  /// Performs all actions of the responder and the querier that are due.
  package mutating func handleTimeout(at now: Instant) {
    responder.handleTimeout(at: now)
    querier.handleTimeout(at: now)
  }

  /// Removes and returns the next datagram to send, or returns nil if there is none.
  package mutating func pollTransmit() -> Transmit? {
    responder.pollTransmit() ?? querier.pollTransmit()
  }

  /// Removes and returns the next event, or returns nil if there is none.
  package mutating func pollEvent() -> Event? {
    if let event = responder.pollEvent() { return .responder(event) }
    return querier.pollEvent().map(Event.querier)
  }

  /// The next time at which `handleTimeout` must be called, or nil if no timer is armed.
  package var nextTimeout: Instant? { earliest(responder.nextTimeout, querier.nextTimeout) }
}
