import CaromCore
import CaromProtocol
import CaromTesting
import CaromTransport

/// The simulated conditions between a node and its peers: the datagrams on their way, and the
/// generators that decide what happens to them.
final class SimulatedConditions {
  /// The maximum number of peer addresses that have links of their own. Beyond this number, all
  /// links are reset.
  private static let linkLimit = 4096
  /// The maximum number of delayed datagrams. Beyond this number, datagrams are lost, as in a full
  /// queue.
  private static let delayedLimit = 65_536

  /// A datagram on its way.
  struct Datagram: Sendable {
    let bytes: [UInt8]
    let route: Route
    /// Whether this side sends the datagram; false if this side receives it.
    let isOutgoing: Bool
  }

  private struct Link {
    var sending: DatagramConditioner
    var receiving: DatagramConditioner
  }

  private let sending: LinkConditions
  private let receiving: LinkConditions
  private var links: [Endpoint: Link] = [:]
  private var seed: UInt64
  private var delayed = DeadlineQueue<Datagram>()
  /// The number of datagrams on their way to peers.
  private(set) var outgoing = 0
  var timer: LoopTimer?

  init(_ profile: LinkProfile, asHost: Bool, seed: UInt64) {
    sending = asHost ? profile.inbound : profile.outbound
    receiving = asHost ? profile.outbound : profile.inbound
    self.seed = seed
  }

  /// Delays, duplicates or drops a datagram.
  func pass(_ bytes: Span<UInt8>, on route: Route, isOutgoing: Bool, at now: Instant) {
    var link = links.removeValue(forKey: route.endpoint) ?? makeLink(at: now)
    let isV6 = route.endpoint.address.isV6
    let insert = { (bytes: [UInt8], time: Instant) in
      guard self.delayed.count < Self.delayedLimit else { return }
      let datagram = Datagram(bytes: bytes, route: route, isOutgoing: isOutgoing)
      self.delayed.insert(datagram, at: time)
      if isOutgoing { self.outgoing += 1 }
    }
    if isOutgoing {
      link.sending.send(Array(copying: bytes), isV6: isV6, at: now, insert)
    } else {
      link.receiving.send(Array(copying: bytes), isV6: isV6, at: now, insert)
    }
    links[route.endpoint] = link
  }

  private func makeLink(at now: Instant) -> Link {
    if links.count >= Self.linkLimit { links = [:] }
    defer { seed += 2 }
    return Link(
      sending: DatagramConditioner(sending, seed: seed, at: now),
      receiving: DatagramConditioner(receiving, seed: seed + 1, at: now))
  }

  /// Removes and returns the next datagram that has arrived by `now`, or nil if there is none.
  func popArrival(until now: Instant) -> Datagram? {
    guard let datagram = delayed.popFirst(until: now) else { return nil }
    if datagram.isOutgoing { outgoing -= 1 }
    return datagram
  }

  /// The time of the next arrival, or nil if no datagram is on its way.
  var nextTimeout: Instant? { delayed.nextDeadline }

  /// Returns the counters of the links to all peers if `isSending` is true, and of the links from
  /// all peers otherwise.
  func counters(sending isSending: Bool) -> [LinkCounters] {
    links.values.map { isSending ? $0.sending.counters : $0.receiving.counters }
  }
}

extension SessionNode {
  /// Applies simulated conditions to all datagrams from now on, so that a developer can experience
  /// a slow or lossy network without having one. Call this method before `listen` and `connect`.
  ///
  /// This side applies the conditions of both directions. If `asHost` is true, the conditions from
  /// client to host in `profile` apply to what this side receives, and those from host to client to
  /// what it sends; otherwise it is the other way around. Loss, delay, jitter, reordering,
  /// duplication, corruption, rate, queue, outages and the MTU are simulated, in each run with the
  /// same seed; rebinding is not simulated. Each peer has a link of its own.
  ///
  /// Streams are not delayed. Traps if the node uses streams, because the session would use them to
  /// get around a bad network.
  public func simulate(_ profile: LinkProfile, asHost: Bool, seed: UInt64 = 0) {
    precondition(kinds == .datagram, "conditions are simulated over datagrams only")
    simulation = SimulatedConditions(profile, asHost: asHost, seed: seed)
  }

  /// The numbers of sent and of received datagrams that have entered the simulated links, and the
  /// number of datagrams that were lost in those links.
  package var simulatedCounts: (sent: Int, received: Int, lost: Int) {
    guard let simulation else { return (0, 0, 0) }
    let (sending, receiving) = (
      simulation.counters(sending: true), simulation.counters(sending: false)
    )
    return (
      sending.reduce(0) { $0 + $1.sent }, receiving.reduce(0) { $0 + $1.sent },
      (sending + receiving).reduce(0) { $0 + $1.dropped.total }
    )
  }

  /// Delays a batch of received datagrams.
  func delay(_ batch: borrowing UDPBatch, on socket: Int, by simulation: SimulatedConditions) {
    let now = loop.now
    for index in batch.indices where !batch[index].isTruncated {
      let route = Route(batch[index].source, socket: socket)
      simulation.pass(batch[index].payload, on: route, isOutgoing: false, at: now)
    }
    rearm(simulation)
  }

  /// Arms the timer for the next arrival.
  func rearm(_ simulation: SimulatedConditions) {
    guard let next = simulation.nextTimeout else { return }
    if simulation.timer == nil {
      simulation.timer = LoopTimer(on: loop, owner: self) { $0.handleArrivals() }
    }
    if simulation.timer?.deadline != next { simulation.timer?.arm(at: next) }
  }

  /// Sends or receives the datagrams that have passed through their simulated links.
  private func handleArrivals() {
    guard let simulation else { return }
    let now = loop.now
    while let datagram = simulation.popArrival(until: now) {
      let route = datagram.route
      if datagram.isOutgoing {
        guard sockets.datagrams.indices.contains(route.socket) else { continue }
        sockets.datagrams[route.socket].send(datagram.bytes, to: route.endpoint)
        bytesSent += UInt64(datagram.bytes.count)
      } else {
        bytesReceived += UInt64(datagram.bytes.count)
        lobby.receiveDatagram(datagram.bytes.span, from: route, at: now)
      }
    }
    rearm(simulation)
    drain()
  }
}
