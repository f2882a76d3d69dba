import CaromCore
import CaromDNS
import CaromTransport

/// Discovery for code that runs on a loop's thread. Calls take effect immediately. Handlers are
/// called on that thread; the packets that an event causes are sent before its handlers are called.
///
/// Code that does not run on a loop uses `ServiceAdvertiser` and `ServiceBrowser` instead. Not
/// `Sendable`: all members must be used on the loop's thread. Call `close` to send the goodbye
/// records.
public final class DiscoveryCore {
  /// An event that concerns an advertised service.
  public enum AdvertisingEvent: Hashable, Sendable {
    /// The service is visible under `name`.
    case established(name: String)
    /// The service lost its name to another host, or was renamed, and is visible under `name`.
    case renamed(name: String)
    /// The service is not visible. No further events follow.
    case failed(DiscoveryError)
  }

  /// The minimum increase in the suspended time that counts as a suspension of the computer. The
  /// clocks from which the suspended time is computed differ slightly, so smaller increases are
  /// ignored.
  static let minimumSuspension = Duration.seconds(1)

  /// The loop on whose thread this object must be used.
  public let loop: NetworkLoop
  let interfaces: InterfaceSelection
  var node: MulticastDNS
  private var sockets: [InterfaceSocket] = []
  private var timer: LoopTimer?
  private var monitor: InterfaceMonitor?
  private var hook: ShutdownHook?
  private var isOpen = true
  /// The times of the last and of the next check of the sockets bound to port 5353.
  private var portChecks = PortChecks()
  /// The counters of sockets that have been closed.
  private var closedCounters = DiscoveryCounters()
  var advertising: [PublicationID: (AdvertisingEvent) -> Void] = [:]
  /// The closures to call once no goodbye records are waiting to be sent.
  var goodbyeHandlers: [() -> Void] = []
  var watching: [WatchingID: (Querier.Event) -> Void] = [:]
  var resolving: [ResolveID: (Result<ResolvedService, DiscoveryError>) -> Void] = [:]
  /// A closure that returns how long the computer has been suspended since it was started. Tests
  /// replace it.
  var timeSuspended: () -> Duration = { NetworkLoop.timeSuspended }
  private lazy var lastTimeSuspended = timeSuspended()
  /// A closure that is called once if the loop shuts down while this object is open. `close` does
  /// not call it.
  var onClosed: (() -> Void)?

  /// Creates a discovery object and opens the sockets of the selected interfaces.
  public init(
    on loop: NetworkLoop, interfaces: InterfaceSelection = .automatic
  ) throws(DiscoveryError) {
    loop.preconditionCurrent("discovery")
    self.loop = loop
    self.interfaces = interfaces
    node = MulticastDNS(
      hostLabel: HostLabel.make(from: HostName.current),
      generator: SeededGenerator(seed: .random(in: .min ... .max)))
    timer = LoopTimer(on: loop) { [weak self] in self?.timeout() }
    hook = ShutdownHook(on: loop) { [weak self] in self?.loopWillShutDown() }
    do throws(TransportError) {
      monitor = try InterfaceMonitor(on: loop) { [weak self] in self?.interfacesChanged() }
    } catch {
      throw DiscoveryError(error)
    }
    try open()
  }

  /// The host name that is published on the link, such as "maya-carom.local".
  public var hostName: String { node.hostName.description }

  /// The interfaces that are in use, in ascending order of their indices.
  public var activeInterfaces: [Interface] { sockets.map(\.interface) }

  /// The state of each link as the protocol implementation sees it.
  var links: [Link] { sockets.map(\.link) }

  /// The number of received datagrams that were dropped, for each reason.
  public var counters: DiscoveryCounters {
    var sum = closedCounters
    for socket in sockets { sum.add(socket.counters) }
    sum.malformed += node.counters.malformed
    sum.notStandard += node.counters.notStandard
    sum.foreignPort += node.counters.foreignPort
    return sum
  }

  private func open() throws(DiscoveryError) {
    let all: [Interface]
    do throws(TransportError) { all = try Interfaces.list() } catch { throw DiscoveryError(error) }
    for name in interfaces.names where !all.contains(where: { $0.name == name && $0.isUp }) {
      throw .noSuchInterface(name)
    }
    let failure = updateSockets(for: interfaces.selected(from: all))
    guard sockets.isEmpty else { return }
    throw failure.map(DiscoveryError.init) ?? .noMulticastInterface
  }

  /// Opens sockets for new interfaces, updates the sockets of remaining interfaces, and closes the
  /// sockets of removed interfaces. Returns the first error, or nil if there was none.
  private func updateSockets(for selected: [Interface]) -> TransportError? {
    var failure: TransportError?
    var kept: [InterfaceSocket] = []
    for interface in selected {
      do throws(TransportError) {
        if let old = sockets.first(where: { $0.isFor(interface) }) {
          try old.update(to: interface)
          kept.append(old)
        } else {
          kept.append(try InterfaceSocket(on: loop, interface) { [weak self] in self?.receive($0) })
        }
      } catch {
        failure = failure ?? error
      }
    }
    for socket in sockets where !kept.contains(where: { $0 === socket }) { close(socket) }
    sockets = kept.sorted { $0.link.index < $1.link.index }
    claimUnicast()
    return failure
  }

  /// Checks which sockets are bound to port 5353, binds this host's free addresses, and passes the
  /// state of the links to the protocol implementation.
  func claimUnicast() {
    portChecks.note(at: loop.now)
    let bound = UDPSocket.addresses(boundTo: MulticastGroup.port)
    var hasBound = false
    for socket in sockets { hasBound = socket.claimUnicast(bound, mayBind: true) || hasBound }
    // A second check finds sockets that other processes have bound at the same moment.
    let after = hasBound ? UDPSocket.addresses(boundTo: MulticastGroup.port) : bound
    for socket in sockets { _ = socket.claimUnicast(after, mayBind: false) }
    node.setLinks(sockets.map(\.link), at: loop.now)
  }

  /// Prepares for a new operation: throws `closed` if discovery is closed, and updates state that a
  /// suspension or another program may have changed.
  func prepareRequest() throws(DiscoveryError) {
    loop.preconditionCurrent("discovery")
    guard isOpen else { throw .closed }
    restartAfterSuspension()
    checkPort(for: .request)
  }

  /// Claims names and sends queries again if the computer was suspended since this method was last
  /// called, because the computer may be on another network now (RFC 6762 §8.3, §5.2). Called
  /// before every event is handled.
  func restartAfterSuspension() {
    let suspended = timeSuspended()
    guard suspended - lastTimeSuspended > Self.minimumSuspension else { return }
    lastTimeSuspended = suspended
    node.reclaimNames(at: loop.now)
    node.restartQuestions(on: nil, at: loop.now)
  }

  /// Repeats `claimUnicast` now, or as soon as enough time has passed since the last check, because
  /// another program may have bound or released the port. Called before new queries and when
  /// multicast from this host arrives, since this host's other programs send multicast when they
  /// start.
  func checkPort(for occasion: PortChecks.Occasion) {
    portChecks.schedule(for: occasion, at: loop.now)
    checkPortIfDue()
  }

  private func checkPortIfDue() { if loop.now >= portChecks.next { claimUnicast() } }

  private func interfacesChanged() {
    guard isOpen, let all = try? Interfaces.list() else { return }
    restartAfterSuspension()
    _ = updateSockets(for: interfaces.selected(from: all))
    drain()
  }

  /// Handles the datagrams of one received batch, then drains once for all of them.
  private func receive(_ datagrams: [Datagram]) {
    guard isOpen else { return }
    restartAfterSuspension()
    // A program on this host that waits for unicast responses has just sent its query.
    if datagrams.contains(where: isFromThisHost) { checkPort(for: .multicast) }
    for datagram in datagrams { node.handle(datagram, at: loop.now) }
    drain()
  }

  private func isFromThisHost(_ datagram: Datagram) -> Bool {
    sockets.contains { $0.link.hasAddress(datagram.source.address) }
  }

  private func timeout() {
    guard isOpen else { return }
    restartAfterSuspension()
    checkPortIfDue()
    node.handleTimeout(at: loop.now)
    drain()
  }

  /// Polls the protocol implementation until nothing is left: sends its datagrams, arms the timer,
  /// then delivers its events.
  func drain() {
    while let transmit = node.pollTransmit() {
      sockets.first { $0.link.index == transmit.interface }?.send(transmit)
    }
    for socket in sockets { socket.flush() }
    var events: [MulticastDNS.Event] = []
    while let event = node.pollEvent() { events.append(event) }
    timer?.arm(at: min(portChecks.next, node.nextTimeout ?? portChecks.next))
    for event in events { deliver(event) }
    guard !node.hasPendingGoodbyes else { return }
    let handlers = goodbyeHandlers
    goodbyeHandlers = []
    for handle in handlers { handle() }
  }

  private func deliver(_ event: MulticastDNS.Event) {
    switch event {
    case .responder(.published(let id, let name)): advertising[id]?(.established(name: name))
    case .responder(.renamed(let id, let name)): advertising[id]?(.renamed(name: name))
    case .responder(.failed(let id, let error)):
      advertising.removeValue(forKey: id)?(.failed(DiscoveryError(error)))
    case .responder(.hostRenamed): break
    case .querier(let event): deliver(event)
    }
  }

  private func deliver(_ event: Querier.Event) {
    switch event {
    case .added(let id, _), .updated(let id, _), .removed(let id, _), .nameAdded(let id, _),
      .nameRemoved(let id, _):
      watching[.browsing(.init(id: id))]?(event)
    case .text(let id, _): watching[.monitoring(.init(id: id))]?(event)
    case .recordAdded(let id, _, _), .recordRemoved(let id, _, _), .recordDenied(let id, _):
      watching[.querying(.init(id: id))]?(event)
    case .resolved(let id, let resolution):
      if let watch = watching[.resolving(.init(id: id))] { return watch(event) }
      resolving.removeValue(forKey: id)?(.success(ResolvedService(resolution)))
    case .unresolved(let id, let failure):
      resolving.removeValue(forKey: id)?(.failure(DiscoveryError(failure)))
    }
  }

  /// Sends goodbye records for all advertised services and closes the sockets. No handler is called
  /// afterwards.
  public func close() {
    loop.preconditionCurrent("discovery")
    guard isOpen else { return }
    advertising = [:]
    watching = [:]
    resolving = [:]
    node.withdrawAll(at: loop.now)
    drain()
    isOpen = false
    timer?.cancel()
    monitor?.stop()
    hook = nil
    for socket in sockets { close(socket) }
    sockets = []
  }

  private func close(_ socket: InterfaceSocket) {
    closedCounters.add(socket.counters)
    socket.close()
  }

  /// Sends the goodbye records, then reports to all handlers that discovery is closed.
  private func loopWillShutDown() {
    let (advertising, resolving) = (advertising, resolving)
    close()
    for handle in advertising.values { handle(.failed(.closed)) }
    for handle in resolving.values { handle(.failure(.closed)) }
    onClosed?()
    onClosed = nil
  }
}
