import CaromCore
import CaromDNS
import CaromTransport

/// Discovery for callers off the loop's thread. There is one actor for each loop and interface
/// selection, so that all advertisers and browsers of a program share its sockets and its cache.
actor DiscoveryActor: LoopActor {
  private struct Key: Hashable {
    var loop: ObjectIdentifier
    var interfaces: InterfaceSelection
  }

  private struct Reference {
    weak var actor: DiscoveryActor?
  }

  /// A task that queries name servers until it is stopped.
  struct ServerTask {
    var task: Task<Void, Never>?
    /// The watch on the link that runs alongside the task, or nil if there is none.
    var linkWatch: DiscoveryCore.WatchingID?
    /// A closure that tells the task's listener that the loop has shut down.
    var reportClosed: @Sendable () -> Void
  }

  /// Identifies an operation that can be stopped.
  enum Handle: Hashable, Sendable {
    case advertising(DiscoveryCore.AdvertisingID)
    case watching(DiscoveryCore.WatchingID)
    case resolving(DiscoveryCore.ResolvingID)
    case serverTask(UInt64)
    /// A service in a domain.
    case registering(UInt64)
  }

  private static let actors = Locked<[Key: Reference]>([:])
  private static let defaultLoop = Locked<NetworkLoop?>(nil)

  nonisolated let loop: NetworkLoop
  let interfaces: InterfaceSelection
  var core: DiscoveryCore?
  private var continuations:
    [UInt64: CheckedContinuation<Result<ResolvedService, DiscoveryError>, Never>] =
      [:]
  private var resolving: [UInt64: DiscoveryCore.ResolvingID] = [:]
  /// For each watch on the link, a closure that tells its listener that the loop has shut down.
  private var closeReports: [DiscoveryCore.WatchingID: @Sendable () -> Void] = [:]
  private var nextNumber: UInt64 = 0
  private var serverTasks: [UInt64: ServerTask] = [:]
  /// The services in domains whose requests have handles.
  var registrations: [UInt64: RegistrationRequest] = [:]
  /// The tasks that remove services from domains.
  var removals: [UInt64: Task<Void, Never>] = [:]
  private(set) lazy var unicastClient = UnicastClient(on: loop)
  /// A closure that returns the name servers and search domains to use.
  private(set) var nameServers: @Sendable () -> UnicastConfiguration = { .current }

  private init(on loop: NetworkLoop, _ interfaces: InterfaceSelection) {
    self.loop = loop
    self.interfaces = interfaces
  }

  /// Returns the actor for `loop` and `interfaces`. The actor is created on first use and lives as
  /// long as there is a reference to it.
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

  /// Returns the loop for callers that do not pass one. The loop lives as long as the program.
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

  /// Returns the core, which opens its sockets on first use.
  private func openCore() throws(DiscoveryError) -> DiscoveryCore {
    if let core { return core }
    let core = try DiscoveryCore(on: loop, interfaces: interfaces)
    core.onClosed = { [weak self] in self?.assumeIsolated { $0.loopDidShutDown() } }
    self.core = core
    return core
  }

  private func loopDidShutDown() {
    for reportClosed in closeReports.values { reportClosed() }
    closeReports = [:]
    for task in serverTasks.values {
      task.task?.cancel()
      task.reportClosed()
    }
    serverTasks = [:]
  }

  /// Runs `body` on the actor without suspension, so that no other work comes between the calls
  /// that `body` makes.
  func perform<Value: Sendable>(
    _ body: @Sendable (isolated DiscoveryActor) throws(DiscoveryError) -> Value
  ) throws(DiscoveryError) -> Value {
    try body(self)
  }

  /// Starts an operation for each name, and returns a closure that stops all of them.
  func start(
    for names: [Name],
    _ body: @Sendable (isolated DiscoveryActor, Name) throws(DiscoveryError) -> Handle
  ) throws(DiscoveryError) -> @Sendable () async -> Void {
    var handles: [Handle] = []
    for name in names {
      do throws(DiscoveryError) { handles.append(try body(self, name)) } catch {
        for handle in handles { stop(handle) }
        throw error
      }
    }
    return { [handles] in for handle in handles { await self.stop(handle) } }
  }

  /// Stops the operation that `handle` identifies.
  func stop(_ handle: Handle) {
    switch handle {
    case .advertising(let id):
      core?.withdraw(id)
      // The goodbye records are sent even if nothing else refers to this actor.
      core?.whenGoodbyesAreSent { withExtendedLifetime(self) {} }
    case .watching(let id):
      closeReports[id] = nil
      core?.stopWatching(id)
    case .resolving(let id): core?.cancelResolving(id)
    case .serverTask(let number):
      guard let task = removeServerTask(number) else { return }
      task.task?.cancel()
      if let watch = task.linkWatch { core?.stopWatching(watch) }
    case .registering(let number): unregister(number)
    }
  }

  func makeNumber() -> UInt64 {
    defer { nextNumber += 1 }
    return nextNumber
  }

  /// Registers `work` under a new number, and starts its task by calling `start` with the number.
  /// The task later passes the number to `removeServerTask`.
  func addServerTask(
    _ work: ServerTask, _ start: (UInt64) -> Task<Void, Never>?
  ) -> Handle {
    let number = makeNumber()
    serverTasks[number] = work
    serverTasks[number]?.task = start(number)
    return .serverTask(number)
  }

  /// Removes and returns a task that has finished, or returns nil if the task has already been
  /// stopped.
  func removeServerTask(_ number: UInt64) -> ServerTask? {
    serverTasks.removeValue(forKey: number)
  }

  /// Replaces the source of the name server configuration.
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
    try openCore().advertise(service, handle)
  }

  /// Withdraws a service, and returns once its goodbye records have been sent.
  func withdraw(_ id: DiscoveryCore.AdvertisingID) async {
    guard let core else { return }
    core.withdraw(id)
    await withCheckedContinuation { continuation in
      core.whenGoodbyesAreSent { continuation.resume() }
    }
  }

  /// Sends the goodbye records of all services that have been stopped.
  func sendGoodbyes() { core?.sendGoodbyes() }

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
  /// A closure that receives the values of a watch, and an error if the watch ends because the loop
  /// shut down.
  typealias Listener<Value> = @Sendable (Result<Value, DiscoveryError>) -> Void

  func browse(
    _ search: ServiceSearch, _ listener: @escaping Listener<ServiceChange>
  ) throws(DiscoveryError) -> Handle {
    if search.isUnicast { return try browseServers(search, listener) }
    return try watchLink(listener) { core, handle throws(DiscoveryError) in
      try core.browse(search, for: self, handle)
    }
  }

  func browseTypes(
    _ listener: @escaping Listener<DiscoveryChange<DiscoveredServiceType>>
  ) throws(DiscoveryError) -> Handle {
    try watchLink(listener) { core, handle throws(DiscoveryError) in
      try core.browseTypes(handle)
    }
  }

  func browseDomains(
    _ purpose: DomainPurpose,
    _ listener: @escaping Listener<DiscoveryChange<DiscoveredDomain>>
  ) throws(DiscoveryError) -> Handle {
    let collector = DomainCollector { listener(.success($0)) }
    let core = try openCore()
    let id = try core.browseDomains(purpose) { collector.apply($0) }
    return try browseServerDomains(purpose, of: core.links, alongside: id, collector, listener)
  }

  func query(
    _ name: String, _ type: RecordType,
    _ listener: @escaping Listener<DiscoveryChange<DiscoveredRecord>>
  ) throws(DiscoveryError) -> Handle {
    if let name = try? Name(text: name), Self.isUnicast(name) {
      let key = RecordKey(name, type)
      guard name.isPrivateReverse else { return try queryServers(key, listener) }
      let id = try openCore().query(name.description, type) { listener(.success($0)) }
      return try queryServers(key, alongside: id, listener)
    }
    return try watchLink(listener) { core, handle throws(DiscoveryError) in
      try core.query(name, type, handle)
    }
  }

  func monitor(
    _ name: Name, _ listener: @escaping Listener<TXTRecord?>
  ) throws(DiscoveryError) -> Handle {
    if Self.isUnicast(name) { return try monitorServers(name, listener) }
    return try watchLink(listener) { core, handle throws(DiscoveryError) in
      try core.monitor(name, handle)
    }
  }

  func watchEndpoints(
    of name: Name, _ listener: @escaping Listener<ResolvedService>
  ) throws(DiscoveryError) -> Handle {
    if Self.isUnicast(name) { return try watchServerEndpoints(of: name, listener) }
    return try watchLink(listener) { core, handle throws(DiscoveryError) in
      try core.watchEndpoints(of: name, handle)
    }
  }

  private func watchLink<Value>(
    _ listener: @escaping Listener<Value>,
    _ start: (DiscoveryCore, @escaping (Value) -> Void) throws(DiscoveryError) ->
      DiscoveryCore.WatchingID
  ) throws(DiscoveryError) -> Handle {
    let id = try start(try openCore()) { listener(.success($0)) }
    closeReports[id] = { listener(.failure(.closed)) }
    return .watching(id)
  }

  /// Reconfirms a name on the link (RFC 6762 §10.4). Does nothing for names outside the link, since
  /// name servers are queried again as their answers age.
  func reconfirm(_ name: Name) { if !Self.isUnicast(name) { core?.reconfirm(name) } }
}

// MARK: - Resolving

extension DiscoveryActor {
  /// Resolves a service and calls `listener` once, possibly before this method returns.
  func resolve(
    _ name: Name, within limit: Duration, _ listener: @escaping Listener<ResolvedService>
  ) throws(DiscoveryError) -> Handle {
    if Self.isUnicast(name) { return try resolveAtServers(name, within: limit, listener) }
    return .resolving(try openCore().resolve(name, within: limit, listener))
  }

  func resolve(
    _ name: Name, within limit: Duration
  ) async throws(DiscoveryError) -> ResolvedService {
    if Self.isUnicast(name) { return try await resolveAtServers(name, within: limit) }
    let core = try openCore()
    let number = nextNumber
    nextNumber += 1
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        continuations[number] = continuation
        do throws(DiscoveryError) {
          guard !Task.isCancelled else { throw .cancelled }
          let id = try core.resolve(name, within: limit) { [weak self] result in
            self?.assumeIsolated { $0.finish(number, result) }
          }
          if continuations[number] != nil { resolving[number] = id }
        } catch {
          finish(number, .failure(error))
        }
      }
    } onCancel: {
      Task { await self.cancel(number) }
    }
    return try result.get()
  }

  private func finish(_ number: UInt64, _ result: Result<ResolvedService, DiscoveryError>) {
    resolving[number] = nil
    continuations.removeValue(forKey: number)?.resume(returning: result)
  }

  private func cancel(_ number: UInt64) {
    if let id = resolving[number] { core?.cancelResolving(id) }
    finish(number, .failure(.cancelled))
  }
}
