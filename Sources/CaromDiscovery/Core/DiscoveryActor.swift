import CaromCore
import CaromDNS
import CaromTransport
import Synchronization

/// Discovery for code off the loop: one for each loop and selection of interfaces, so that all
/// advertisers and browsers of a program share sockets and cache.
actor DiscoveryActor: LoopActor {
  private struct Key: Hashable {
    var loop: ObjectIdentifier
    var interfaces: InterfaceSelection
  }

  private struct Reference {
    weak var actor: DiscoveryActor?
  }

  private static let actors = Mutex<[Key: Reference]>([:])
  private static let defaultLoop = Mutex<NetworkLoop?>(nil)

  nonisolated let loop: NetworkLoop
  private let interfaces: InterfaceSelection
  private var core: DiscoveryCore?
  private var waiting:
    [UInt64: CheckedContinuation<Result<ResolvedService, DiscoveryError>, Never>] =
      [:]
  private var resolving: [UInt64: DiscoveryCore.ResolvingID] = [:]
  /// How those who watch are told that it is over.
  private var closers: [DiscoveryCore.WatchingID: @Sendable () -> Void] = [:]
  private var nextNumber: UInt64 = 0
  /// What goes on at name servers.
  private var unicast: [UInt64: UnicastWork] = [:]
  private(set) lazy var unicastClient = UnicastClient(on: loop)
  /// Which name servers are asked.
  private(set) var nameServers: @Sendable () -> UnicastConfiguration = { .current }

  private init(on loop: NetworkLoop, _ interfaces: InterfaceSelection) {
    self.loop = loop
    self.interfaces = interfaces
  }

  /// The one for `loop` and `interfaces`; it lives as long as somebody holds it.
  static func shared(
    on loop: NetworkLoop?, _ interfaces: InterfaceSelection
  ) throws(DiscoveryError) -> DiscoveryActor {
    let loop = if let loop { loop } else { try sharedLoop() }
    let key = Key(loop: ObjectIdentifier(loop), interfaces: interfaces)
    return actors.withLock { actors in
      if let actor = actors[key]?.actor { return actor }
      actors = actors.filter { $0.value.actor != nil }
      let actor = DiscoveryActor(on: loop, interfaces)
      actors[key] = Reference(actor: actor)
      return actor
    }
  }

  /// The loop of those who bring none; it lives as long as the program.
  private static func sharedLoop() throws(DiscoveryError) -> NetworkLoop {
    do throws(TransportError) {
      return try defaultLoop.withLock { (shared) throws(TransportError) -> NetworkLoop in
        if let shared { return shared }
        let loop = try NetworkLoop(name: "carom-discovery")
        shared = loop
        return loop
      }
    } catch {
      throw DiscoveryError(error)
    }
  }

  private func opened() throws(DiscoveryError) -> DiscoveryCore {
    if let core { return core }
    let core = try DiscoveryCore(on: loop, interfaces: interfaces)
    core.onClosed = { [weak self] in self?.assumeIsolated { $0.loopEnded() } }
    self.core = core
    return core
  }

  private func loopEnded() {
    for close in closers.values { close() }
    closers = [:]
    for work in unicast.values {
      work.task?.cancel()
      work.close()
    }
    unicast = [:]
  }

  /// Does several things in one go.
  func perform<Value: Sendable>(
    _ body: @Sendable (isolated DiscoveryActor) throws(DiscoveryError) -> Value
  ) throws(DiscoveryError) -> Value {
    try body(self)
  }

  /// Something that was begun.
  enum Handle: Hashable, Sendable {
    case advertising(DiscoveryCore.AdvertisingID)
    case watching(DiscoveryCore.WatchingID)
    case resolving(DiscoveryCore.ResolvingID)
    case unicast(UInt64)
  }

  /// Ends what was begun.
  func stop(_ handle: Handle) {
    switch handle {
    case .advertising(let id): core?.withdraw(id)
    case .watching(let id):
      closers[id] = nil
      core?.stopWatching(id)
    case .resolving(let id): core?.cancelResolving(id)
    case .unicast(let number):
      guard let work = finish(number) else { return }
      work.task?.cancel()
      if let link = work.link { core?.stopWatching(link) }
    }
  }

  /// Keeps something that goes on at name servers until it is stopped, or has finished.
  func keep(_ work: UnicastWork, _ start: (UInt64) -> Task<Void, Never>?) -> Handle {
    let number = nextNumber
    nextNumber += 1
    unicast[number] = work
    unicast[number]?.task = start(number)
    return .unicast(number)
  }

  /// Forgets it; `nil` where it was stopped before.
  func finish(_ number: UInt64) -> UnicastWork? { unicast.removeValue(forKey: number) }

  /// Asks these name servers from now on.
  func use(_ nameServers: @escaping @Sendable () -> UnicastConfiguration) {
    self.nameServers = nameServers
  }
}

// MARK: - Advertising

extension DiscoveryActor {
  func advertise(
    _ service: AdvertisedService,
    _ handle: @escaping @Sendable (DiscoveryCore.AdvertisingEvent) -> Void
  ) throws(DiscoveryError) -> DiscoveryCore.AdvertisingID {
    try opened().advertise(service, handle)
  }

  func withdraw(_ id: DiscoveryCore.AdvertisingID) { core?.withdraw(id) }

  func update(_ id: DiscoveryCore.AdvertisingID, txt: TXTRecord) throws(DiscoveryError) {
    try core?.update(id, txt: txt)
  }

  func update(_ id: DiscoveryCore.AdvertisingID, subtypes: [String]) throws(DiscoveryError) {
    try core?.update(id, subtypes: subtypes)
  }

  func rename(_ id: DiscoveryCore.AdvertisingID, to name: String) throws(DiscoveryError) {
    try core?.rename(id, to: name)
  }
}

// MARK: - Watching

extension DiscoveryActor {
  /// Hears what watching tells, and why it ends where the loop shuts down.
  typealias Listener<Value> = @Sendable (Result<Value, DiscoveryError>) -> Void

  func browse(
    _ search: ServiceSearch, _ listener: @escaping Listener<ServiceChange>
  ) throws(DiscoveryError) -> Handle {
    if search.isUnicast { return try browseServers(search, listener) }
    return try watch(listener) { core, tell throws(DiscoveryError) in
      try core.browse(search, for: self, tell)
    }
  }

  func browseTypes(
    _ listener: @escaping Listener<DiscoveryChange<DiscoveredServiceType>>
  ) throws(DiscoveryError) -> Handle {
    try watch(listener) { core, tell throws(DiscoveryError) in try core.browseTypes(tell) }
  }

  func browseDomains(
    _ purpose: DomainBrowser.Purpose,
    _ listener: @escaping Listener<DiscoveryChange<DiscoveredDomain>>
  ) throws(DiscoveryError) -> Handle {
    let collector = DomainCollector { listener(.success($0)) }
    let core = try opened()
    let id = try core.browseDomains(purpose) { collector.apply($0) }
    return try browseServerDomains(purpose, of: core.links, beside: id, collector, listener)
  }

  func query(
    _ query: RecordQuery, _ listener: @escaping Listener<DiscoveryChange<DiscoveredRecord>>
  ) throws(DiscoveryError) -> Handle {
    if let name = try? Name(text: query.name), Self.isUnicast(name) {
      return try queryServers(RecordKey(name, query.type), listener)
    }
    return try watch(listener) { core, tell throws(DiscoveryError) in
      try core.query(query, tell)
    }
  }

  func monitor(
    _ name: Name, _ listener: @escaping Listener<TXTRecord?>
  ) throws(DiscoveryError) -> Handle {
    if Self.isUnicast(name) { return try monitorServers(name, listener) }
    return try watch(listener) { core, tell throws(DiscoveryError) in try core.monitor(name, tell) }
  }

  private func watch<Value>(
    _ listener: @escaping Listener<Value>,
    _ start: (DiscoveryCore, @escaping (Value) -> Void) throws(DiscoveryError) ->
      DiscoveryCore.WatchingID
  ) throws(DiscoveryError) -> Handle {
    let id = try start(try opened()) { listener(.success($0)) }
    closers[id] = { listener(.failure(.closed)) }
    return .watching(id)
  }

  /// What name servers say is asked for again as it grows old.
  func reconfirm(_ name: Name) { if !Self.isUnicast(name) { core?.reconfirm(name) } }
}

// MARK: - Resolving

extension DiscoveryActor {
  /// Calls back once, perhaps before it returns.
  func resolve(
    _ name: Name, within limit: Duration, _ listener: @escaping Listener<ResolvedService>
  ) throws(DiscoveryError) -> Handle {
    if Self.isUnicast(name) { return try resolveAtServers(name, within: limit, listener) }
    return .resolving(try opened().resolve(name, within: limit, listener))
  }

  func resolve(
    _ name: Name, within limit: Duration
  ) async throws(DiscoveryError) -> ResolvedService {
    if Self.isUnicast(name) { return try await resolveAtServers(name, within: limit) }
    let core = try opened()
    guard !Task.isCancelled else { throw .cancelled }
    let number = nextNumber
    nextNumber += 1
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting[number] = continuation
        let id = core.resolve(name, within: limit) { [weak self] result in
          self?.assumeIsolated { $0.finish(number, result) }
        }
        if waiting[number] != nil { resolving[number] = id }
      }
    } onCancel: {
      Task { await self.cancel(number) }
    }
    return try result.get()
  }

  private func finish(_ number: UInt64, _ result: Result<ResolvedService, DiscoveryError>) {
    resolving[number] = nil
    waiting.removeValue(forKey: number)?.resume(returning: result)
  }

  private func cancel(_ number: UInt64) {
    if let id = resolving[number] { core?.cancelResolving(id) }
    finish(number, .failure(.cancelled))
  }
}
