import CaromCore
import CaromDNS
import CaromDiscovery

/// The name of a service as it is written on the command line.
enum InstanceArgument {
  /// How long to wait for the record that shows how the service itself writes its name.
  private static let patience = Duration.milliseconds(250)

  /// Returns the full name of a service.
  static func fullName(_ name: String, _ type: ServiceType, _ domain: Name) throws -> Name {
    do throws(InstanceNameError) {
      try InstanceName.validate(name)
    } catch {
      switch error {
      case .empty: throw DiscoveryError.nameMissing
      case .tooLong(let count): throw DiscoveryError.nameTooLong(count)
      case .controlCharacter: throw DiscoveryError.nameInvalid
      }
    }
    return try BrowseTarget.services(type, domain: domain).name().prefixed(by: name)
  }

  /// The name of a service without its type and domain.
  static func text(of fullName: Name) -> String {
    fullName.labels.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Runs `body`, and returns its result and the name of the service as the service writes it,
  /// which may differ from `fullName` in the case of its letters. Returns nil instead of the name
  /// if it is not known shortly after `body` has ended.
  static func withSpelling<Value: Sendable>(
    of fullName: Name, on interfaces: InterfaceSelection,
    _ body: @Sendable () async throws -> Value
  ) async throws -> (Value, String?) {
    let query = RecordQuery(fullName.description, .srv, interfaces: interfaces)
    let found = Task { () -> String? in
      for try await change in query.changes { return text(of: change.item.record.name) }
      return nil
    }
    defer { found.cancel() }
    let value = try await body()
    let timer = Task {
      try await Task.sleep(for: patience)
      found.cancel()
    }
    defer { timer.cancel() }
    return (value, try? await found.value)
  }
}
