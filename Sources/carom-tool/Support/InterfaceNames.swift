import CaromCore
import CaromTransport

/// A cache of the names of this host's interfaces, by index.
final class InterfaceNames: Sendable {
  private let names = Locked<[UInt32: String]>([:])

  /// The name of the interface with the given index, or the index as text if there is no such
  /// interface.
  subscript(index: UInt32) -> String {
    names.withLock { names in
      if names[index] == nil {
        for interface in (try? Interfaces.list()) ?? [] { names[interface.index] = interface.name }
      }
      return names[index] ?? "\(index)"
    }
  }

  subscript(indices: [UInt32]) -> [String] { indices.map { self[$0] } }
}
