import CaromDNS
import CaromDiscovery
import CaromTransport

/// Several `DiscoveryCore`s on one loop, each of which advertises one service and browses.
actor Gathering: LoopActor {
  nonisolated let loop: NetworkLoop
  private let type: ServiceType
  private let interfaces: InterfaceSelection
  private let count: Int
  private var cores: [DiscoveryCore] = []
  private var seen: [[String]]
  private var done: CheckedContinuation<Void, Never>?

  init(
    on loop: NetworkLoop, _ type: ServiceType, _ interfaces: InterfaceSelection, count: Int
  ) {
    self.loop = loop
    self.type = type
    self.interfaces = interfaces
    self.count = count
    seen = Array(repeating: [], count: count)
  }

  /// The names that each core has found, once all cores have found all services.
  func run() async throws -> [[String]] {
    for index in 0..<count {
      let core = try DiscoveryCore(on: loop, interfaces: interfaces)
      cores.append(core)
      try core.advertise(
        AdvertisedService(name: "service \(index)", type: type, port: UInt16(1000 + index))
      ) {
        _ in
      }
      try core.browse(type) { [weak self] change in
        self?.assumeIsolated { $0.record(change, at: index) }
      }
    }
    await withCheckedContinuation { done = $0 }
    return seen.map { $0.sorted() }
  }

  private func record(_ change: ServiceChange, at index: Int) {
    if case .added(let service) = change { seen[index].append(service.name) }
    guard seen.allSatisfy({ $0.count >= count }) else { return }
    done?.resume()
    done = nil
  }

  func close() {
    for core in cores { core.close() }
    cores = []
  }
}
