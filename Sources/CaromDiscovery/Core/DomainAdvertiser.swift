import CaromCore
import CaromDNS
import CaromTransport

/// Registers one service in a domain and keeps it registered, until it is withdrawn.
actor DomainAdvertiser: LoopActor {
  /// The time limit of an update, including all attempts.
  static let timeLimit = Duration.seconds(5)

  nonisolated let loop: NetworkLoop
  private let client: UnicastClient
  private let zone: RegistrationZone
  private let key: TransactionKey
  private let interfaces: InterfaceSelection
  private let handle: @Sendable (DiscoveryCore.AdvertisingEvent) -> Void
  private var service: AdvertisedService
  private var registration: DomainRegistration
  private var sending: Task<Void, Never>?
  private var timer: LoopTimer?
  private var monitor: InterfaceMonitor?
  private var hook: ShutdownHook?
  private var isClosed = false
  /// The calls that wait until the zone contains their changes.
  private var changes: [CheckedContinuation<Result<Void, DiscoveryError>, Never>] = []
  private var withdrawals: [CheckedContinuation<Void, Never>] = []

  /// Creates an advertiser without sending anything. `handle` receives the service's events.
  init(
    _ service: AdvertisedService, in zone: RegistrationZone, of domain: RegistrationDomain,
    on interfaces: InterfaceSelection, by client: UnicastClient,
    _ handle: @escaping @Sendable (DiscoveryCore.AdvertisingEvent) -> Void
  ) throws(DiscoveryError) {
    loop = client.loop
    self.client = client
    self.zone = zone
    self.interfaces = interfaces
    self.handle = handle
    self.service = service
    key = domain.key.key
    do throws(NameError) {
      registration = try DomainRegistration(
        service.registration, in: zone.domain, zone: zone.zone, hostLabel: HostLabel.makeUnique(),
        addresses: Self.addresses(on: interfaces), lease: domain.lease)
    } catch {
      throw .nameInvalid
    }
  }

  /// The addresses under which other hosts reach this one: those of the interfaces, without
  /// link-local ones, and without loopback unless there is nothing else.
  private static func addresses(on interfaces: InterfaceSelection) -> [IPAddress] {
    let all = interfaces.selected(from: (try? Interfaces.list()) ?? []).flatMap(\.addresses)
      .map(\.address).filter { !$0.isLinkLocal }
    let reachable = all.filter { !$0.isLoopback }
    var seen: Set<IPAddress> = []
    return (reachable.isEmpty ? all : reachable).filter { seen.insert($0).inserted }
  }

  /// Begins to register the service.
  func start() {
    timer = LoopTimer(on: loop, owner: self) { $0.drain() }
    hook = ShutdownHook(on: loop) { [weak self] in self?.assumeIsolated { $0.loopWillShutDown() } }
    monitor = try? InterfaceMonitor(on: loop, owner: self) { $0.interfacesChanged() }
    drain()
  }

  func update(txt: TXTRecord) async throws(DiscoveryError) {
    try change { $0.txt = txt }
    registration.update(text: txt)
    try await untilUpToDate()
  }

  func update(subtypes: [String]) async throws(DiscoveryError) {
    try change { $0.subtypes = subtypes }
    registration.update(subtypes: subtypes)
    try await untilUpToDate()
  }

  func rename(to name: String) throws(DiscoveryError) {
    try change { $0.name = name }
    do throws(NameError) { try registration.rename(to: name) } catch { throw .nameInvalid }
    drain()
  }

  /// Sends the changes, and waits until the zone contains them. Throws an error if the server
  /// cannot make them now; they are then tried again.
  private func untilUpToDate() async throws(DiscoveryError) {
    let result = await withCheckedContinuation { continuation in
      changes.append(continuation)
      drain()
    }
    try result.get()
  }

  private func resumeChanges(_ result: Result<Void, DiscoveryError>) {
    for continuation in changes { continuation.resume(returning: result) }
    changes = []
  }

  /// Changes the description of the service. Throws an error if that makes it invalid.
  private func change(_ body: (inout AdvertisedService) -> Void) throws(DiscoveryError) {
    guard !isClosed, !registration.hasEnded else { throw .closed }
    var changed = service
    body(&changed)
    try changed.validate()
    service = changed
  }

  /// Removes the service, and returns when it has been removed, or when that has failed: its lease
  /// then ends by itself.
  func withdraw() async {
    guard !isClosed, !registration.hasEnded else { return }
    registration.withdraw()
    await withCheckedContinuation { continuation in
      withdrawals.append(continuation)
      drain()
    }
  }

  /// Sends the update that is due, if none is under way, and delivers the events.
  private func drain() {
    guard !isClosed else { return }
    if sending == nil, let update = registration.pollUpdate(at: loop.now, time: WallClock.seconds) {
      sending = Task { [client, key, zone] in
        do throws(UnicastError) {
          let serverTime = try await client.update(
            update, signedWith: key, at: zone.servers, within: Self.timeLimit)
          finish(.success(serverTime))
        } catch {
          finish(.failure(error))
        }
      }
    }
    if registration.isUpToDate { resumeChanges(.success(())) }
    while let event = registration.pollEvent() { deliver(event) }
    if let next = registration.nextTimeout { timer?.arm(at: next) } else { timer?.cancel() }
  }

  private func finish(_ result: Result<UInt64, UnicastError>) {
    sending = nil
    switch result {
    case .success(let serverTime):
      registration.handleSuccess(serverTime: serverTime, time: WallClock.seconds, at: loop.now)
    case .failure(let error):
      registration.handleFailure(error, at: loop.now)
      // The registration reacts to a name in use and to missing records with another update, so
      // that the changes are still on their way.
      let isFinal = error != .nameInUse && error != .prerequisiteFailed
      if isFinal { resumeChanges(.failure(DiscoveryError(update: error))) }
    }
    drain()
  }

  private func deliver(_ event: DomainRegistration.Event) {
    switch event {
    case .published(let name): handle(.established(name: name))
    case .renamed(let name): handle(.renamed(name: name))
    case .failed(let error):
      handle(.failed(DiscoveryError(update: error)))
      end()
    case .withdrawn: end()
    }
  }

  private func end() {
    (timer, monitor, hook) = (nil, nil, nil)
    resumeChanges(.failure(.closed))
    for continuation in withdrawals { continuation.resume() }
    withdrawals = []
  }

  private func interfacesChanged() {
    registration.update(addresses: Self.addresses(on: interfaces))
    drain()
  }

  private func loopWillShutDown() {
    isClosed = true
    handle(.failed(.closed))
    end()
  }
}
