import CaromCore
import CaromDiscovery
import CaromNearby
import CaromTransport
import CommandSupport

/// Finds the receivers that files are sent to.
struct ReceiverSearch: Sendable {
  /// How long to look for a second receiver if none was named.
  private static let ambiguityInterval = Duration.milliseconds(800)

  /// The endpoints and the names that were given; both empty for the only receiver on the network.
  private let endpoints: [Endpoint]
  private let names: [String]
  private let interfaces: InterfaceSelection
  private let limit: Duration

  /// Creates a search for receivers by their names or endpoints. Throws if one of them is an
  /// address without a port.
  init(
    for receivers: [String], interfaces: InterfaceSelection, limit: Duration
  ) throws(CommandFailure) {
    var (endpoints, names): ([Endpoint], [String]) = ([], [])
    for receiver in receivers {
      if let endpoint = try EndpointArgument(receiver)?.endpoint {
        endpoints.append(endpoint)
      } else {
        names.append(receiver)
      }
    }
    (self.endpoints, self.names) = (endpoints, names)
    (self.interfaces, self.limit) = (interfaces, limit)
  }

  /// A receiver, and how to reach it.
  enum Receiver: Sendable {
    case endpoint(Endpoint)
    case service(String, InterfaceSelection)

    /// The receiver's name for messages.
    var name: String {
      switch self {
      case .endpoint(let endpoint): endpoint.description
      case .service(let name, _): name
      }
    }

    /// Returns the endpoints at which the receiver can be reached now.
    func endpoints() async throws -> [Endpoint] {
      switch self {
      case .endpoint(let endpoint): [endpoint]
      case .service(let name, let interfaces):
        try await ServiceResolver(name, FileService.type, interfaces: interfaces).resolve()
          .endpoints
      }
    }
  }

  /// Returns the receivers. Throws if one is not found within the limit, or if none was named and
  /// there are several.
  func run() async throws -> [Receiver] {
    if !endpoints.isEmpty, names.isEmpty { return endpoints.map(Receiver.endpoint) }
    let found = try await withThrowingTaskGroup(of: [DiscoveredService]?.self) { group in
      group.addTask { try await browse(for: names) }
      group.addTask {
        try await Task.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
    guard let found else { throw Self.missing(names) }
    return endpoints.map(Receiver.endpoint) + found.map { .service($0.name, interfaces) }
  }

  private static func missing(_ wanted: [String]) -> CommandFailure {
    let what =
      wanted.isEmpty ? "no receiver" : "no receiver named \(wanted.joined(separator: ", "))"
    return CommandFailure(
      .timedOut, "\(what) was found in time: start carom receive on the other side")
  }

  /// Watches for receivers until all of `wanted` are there or, if it is empty, until one is there
  /// and no second one has appeared.
  private func browse(for wanted: [String]) async throws -> [DiscoveredService]? {
    let browser = ServiceBrowser(for: FileService.type, interfaces: interfaces)
    guard wanted.isEmpty else {
      var found: [String: DiscoveredService] = [:]
      for try await change in browser.changes {
        guard case .added(let service) = change, wanted.contains(service.name) else { continue }
        found[service.name] = service
        if found.count == Set(wanted).count { return wanted.compactMap { found[$0] } }
      }
      return nil
    }
    return try await onlyOne(of: browser)
  }

  private func onlyOne(of browser: ServiceBrowser) async throws -> [DiscoveredService]? {
    let found = Locked<[DiscoveredService]>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (firsts, source) = AsyncStream.makeStream(of: Void.self)
      group.addTask {
        for try await change in browser.changes {
          guard case .added(let service) = change else { continue }
          found.withLock { $0.append(service) }
          source.finish()
        }
      }
      group.addTask {
        for await _ in firsts {}
        try await Task.sleep(for: Self.ambiguityInterval)
      }
      defer { group.cancelAll() }
      try await group.next()
    }
    let services = found.withLock { $0 }
    guard services.count > 1 else { return services }
    let names = services.map { "'\($0.name)'" }.sorted().joined(separator: ", ")
    throw CommandFailure(.usage, "there are several receivers, \(names): choose with --to NAME")
  }
}
