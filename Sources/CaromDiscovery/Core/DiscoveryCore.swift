import CaromCore
import CaromDNS
import CaromTransport

/// Discovery on a loop's own thread: what is called here happens at once, and handlers are
/// called on that thread, after the packets that belong to the event have left.
///
/// For programs that live on the loop anyway; others take `ServiceAdvertiser` and
/// `ServiceBrowser`. Belongs to the loop's thread. `close` says the goodbyes.
public final class DiscoveryCore {
  /// What happens to an advertised service.
  public enum AdvertisingEvent: Hashable, Sendable {
    /// It is visible under this name.
    case established(name: String)
    /// It lost its name to another and is visible under this one.
    case renamed(name: String)
    /// It is not visible: the last event.
    case failed(DiscoveryError)
  }

  /// Who has port 5353 is looked at once in that time at most.
  static let lookInterval = Duration.seconds(1)
  /// A shorter sleep is none: the clocks differ by a little.
  static let shortestSleep = Duration.seconds(1)

  /// The loop that it lives on.
  public let loop: NetworkLoop
  let interfaces: InterfaceSelection
  var node: MulticastDNS
  private var sockets: [InterfaceSocket] = []
  private var timer: LoopTimer?
  private var monitor: InterfaceMonitor?
  private var hook: ShutdownHook?
  private var isOpen = true
  /// When it was last looked who has port 5353.
  private var lastLook: Instant?
  private var droppedBefore = DiscoveryCounters()
  var advertising: [PublicationID: (AdvertisingEvent) -> Void] = [:]
  var watching: [WatchingID: (Querier.Event) -> Void] = [:]
  var resolving: [ResolveID: (Result<ResolvedService, DiscoveryError>) -> Void] = [:]
  /// How long the computer has slept; tests put something else here.
  var timeAsleep: () -> Duration = { NetworkLoop.timeAsleep }
  private lazy var lastAsleep = timeAsleep()
  /// Called once when the loop shuts down under it; `close` does not call it.
  var onClosed: (() -> Void)?

  /// Opens the sockets of the selected interfaces.
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
    hook = ShutdownHook(on: loop) { [weak self] in self?.loopEnds() }
    do throws(TransportError) {
      monitor = try InterfaceMonitor(on: loop) { [weak self] in self?.interfacesChanged() }
    } catch {
      throw DiscoveryError(error)
    }
    try open()
  }

  /// The host's name as others see it: "maya-carom.local".
  public var hostName: String { node.hostName.description }

  /// The interfaces that are in use, by index.
  public var activeInterfaces: [Interface] { sockets.map(\.interface) }

  /// The links as the machines see them.
  var links: [Link] { sockets.map(\.link) }

  /// What came in and was dropped.
  public var counters: DiscoveryCounters {
    var sum = droppedBefore
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
    let failure = adopt(interfaces.selected(from: all))
    guard sockets.isEmpty else { return }
    throw failure.map(DiscoveryError.init) ?? .noMulticastInterface
  }

  /// Opens sockets for what is new, keeps those of what has changed, closes those of what is gone.
  private func adopt(_ selected: [Interface]) -> TransportError? {
    var failure: TransportError?
    var kept: [InterfaceSocket] = []
    for interface in selected {
      do throws(TransportError) {
        if let old = sockets.first(where: { $0.serves(interface) }) {
          try old.update(to: interface)
          kept.append(old)
        } else {
          kept.append(try InterfaceSocket(on: loop, interface) { [weak self] in self?.receive($0) })
        }
      } catch {
        failure = failure ?? error
      }
    }
    for socket in sockets where !kept.contains(where: { $0 === socket }) {
      droppedBefore.add(socket.counters)
      socket.close()
    }
    sockets = kept.sorted { $0.link.index < $1.link.index }
    claimUnicast()
    return failure
  }

  /// Looks again who has port 5353, and tells the machines of it and of the links.
  func claimUnicast() {
    lastLook = loop.now
    let bound = UDPSocket.addresses(boundTo: MulticastGroup.port)
    var hasBound = false
    for socket in sockets { hasBound = socket.claimUnicast(bound, isFirstLook: true) || hasBound }
    // Whoever looked at the same moment has bound now, too.
    let after = hasBound ? UDPSocket.addresses(boundTo: MulticastGroup.port) : bound
    for socket in sockets { _ = socket.claimUnicast(after, isFirstLook: false) }
    node.setLinks(sockets.map(\.link), at: loop.now)
  }

  /// Before anything new.
  func begin() throws(DiscoveryError) {
    loop.preconditionCurrent("discovery")
    guard isOpen else { throw .closed }
    noticeSleep()
    refreshUnicast()
  }

  /// After a sleep it may be another network: names are claimed and questions asked again
  /// (RFC 6762 §8.3, §5.2). Looked for whenever something happens.
  func noticeSleep() {
    let asleep = timeAsleep()
    guard asleep - lastAsleep > Self.shortestSleep else { return }
    lastAsleep = asleep
    node.reclaimNames(at: loop.now)
    node.restartQuestions(on: nil, at: loop.now)
  }

  /// Before something new is asked: another program may have taken the port, or left it.
  func refreshUnicast() {
    guard let lastLook, loop.now - lastLook > Self.lookInterval else { return }
    claimUnicast()
  }

  private func interfacesChanged() {
    guard isOpen, let all = try? Interfaces.list() else { return }
    noticeSleep()
    _ = adopt(interfaces.selected(from: all))
    drain()
  }

  private func receive(_ datagram: Datagram) {
    guard isOpen else { return }
    noticeSleep()
    node.handle(datagram, at: loop.now)
    drain()
  }

  private func timeout() {
    guard isOpen else { return }
    noticeSleep()
    node.handleTimeout(at: loop.now)
    drain()
  }

  /// Sends what is to be sent, arms the timer, then tells what happened.
  func drain() {
    while let outgoing = node.pollTransmit() {
      sockets.first { $0.link.index == outgoing.interface }?.send(outgoing)
    }
    for socket in sockets { socket.flush() }
    var events: [MulticastDNS.Event] = []
    while let event = node.pollEvent() { events.append(event) }
    if let next = node.nextTimeout { timer?.arm(at: next) } else { timer?.cancel() }
    for event in events { deliver(event) }
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
      resolving.removeValue(forKey: id)?(.success(ResolvedService(resolution)))
    case .unresolved(let id, let failure):
      resolving.removeValue(forKey: id)?(.failure(DiscoveryError(failure)))
    }
  }

  /// Says goodbye for everything that is advertised, and closes the sockets. No handler is
  /// called afterwards.
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
    for socket in sockets { socket.close() }
    sockets = []
  }

  /// The loop shuts down: whoever waits is told so, after the goodbyes.
  private func loopEnds() {
    let (advertising, resolving) = (advertising, resolving)
    close()
    for handle in advertising.values { handle(.failed(.closed)) }
    for handle in resolving.values { handle(.failure(.closed)) }
    onClosed?()
    onClosed = nil
  }
}
