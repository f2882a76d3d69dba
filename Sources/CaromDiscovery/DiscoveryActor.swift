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
  private static let defaultLoop = Mutex<EventLoop?>(nil)

  nonisolated let loop: EventLoop
  private let interfaces: InterfaceSelection
  private var core: DiscoveryCore?
  private var waiting:
    [UInt64: CheckedContinuation<Result<ResolvedService, DiscoveryError>, Never>] =
      [:]
  private var resolving: [UInt64: DiscoveryCore.ResolvingID] = [:]
  /// How those who browse are told that it is over.
  private var closers: [DiscoveryCore.BrowsingID: @Sendable () -> Void] = [:]
  private var nextNumber: UInt64 = 0

  private init(on loop: EventLoop, _ interfaces: InterfaceSelection) {
    self.loop = loop
    self.interfaces = interfaces
  }

  /// The one for `loop` and `interfaces`; it lives as long as somebody holds it.
  static func shared(
    on loop: EventLoop?, _ interfaces: InterfaceSelection
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
  private static func sharedLoop() throws(DiscoveryError) -> EventLoop {
    do throws(TransportError) {
      return try defaultLoop.withLock { (shared) throws(TransportError) -> EventLoop in
        if let shared { return shared }
        let loop = try EventLoop(name: "carom-discovery")
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
  }

  func advertise(
    _ service: Service, _ handle: @escaping @Sendable (DiscoveryCore.AdvertisingEvent) -> Void
  ) throws(DiscoveryError) -> DiscoveryCore.AdvertisingID {
    try opened().advertise(service, handle)
  }

  func update(_ id: DiscoveryCore.AdvertisingID, txt: TXTRecord) { core?.update(id, txt: txt) }

  func withdraw(_ id: DiscoveryCore.AdvertisingID) { core?.withdraw(id) }

  func browse(
    _ type: ServiceType,
    _ handle: @escaping @Sendable (Result<ServiceChange, DiscoveryError>) -> Void
  ) throws(DiscoveryError) -> DiscoveryCore.BrowsingID {
    let id = try opened().browse(type, for: self) { handle(.success($0)) }
    closers[id] = { handle(.failure(.closed)) }
    return id
  }

  func stopBrowsing(_ id: DiscoveryCore.BrowsingID) {
    closers[id] = nil
    core?.stopBrowsing(id)
  }

  func reconfirm(_ name: Name) { core?.reconfirm(name) }
}

// MARK: - Resolving

extension DiscoveryActor {
  func resolve(
    _ name: Name, within limit: Duration
  ) async throws(DiscoveryError) -> ResolvedService {
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
