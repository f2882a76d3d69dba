import Carom

/// Finds the endpoints of a host from the name of its air hockey table, or from HOST:PORT.
struct HostSearch: Sendable {
  /// How long to browse for a name.
  static let limit = Duration.seconds(6)

  private let table: String
  private let address: HostAddress?
  private let interfaces: InterfaceSelection

  /// Creates a search for a table by its name on the network, or by HOST:PORT.
  init(table: String, interfaces: InterfaceSelection) throws(CommandFailure) {
    self.table = table
    self.interfaces = interfaces
    address = try HostAddress(table)
  }

  /// The endpoints of a host and the public key that it advertises, if any.
  typealias Result = (endpoints: [Endpoint], key: PublicKey?)

  /// Returns the host's endpoints and key. Throws if none are found. Cancelling the task ends the
  /// search.
  func find(on loop: NetworkLoop) async throws -> Result {
    guard let address else { return try await findByName(on: loop) }
    let addresses = try await loop.lookup(host: address.host)
    return (addresses.map { Endpoint($0, port: address.port) }, nil)
  }

  /// Browses for the host of the table named `table`, ignoring case.
  private func findByName(on loop: NetworkLoop) async throws -> Result {
    let found = try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await browse(on: loop) }
      group.addTask {
        try await Task.sleep(for: Self.limit)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
    if let found { return found }
    throw CommandFailure(
      .unavailable, "no table '\(table)' was found within 6 s: check its name and --interface")
  }

  private func browse(on loop: NetworkLoop) async throws -> Result? {
    let browser = ServiceBrowser(for: GameWire.serviceType, interfaces: interfaces, on: loop)
    for try await change in browser.changes {
      guard case .added(let service) = change,
        service.name.lowercased() == table.lowercased()
      else { continue }
      do {
        let resolved = try await service.resolve(within: Self.limit)
        return (resolved.endpoints, resolved.txt.hostKey)
      } catch DiscoveryError.timedOut { return nil }
    }
    return nil
  }
}
