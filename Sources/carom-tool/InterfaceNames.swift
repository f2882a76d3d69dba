import CaromTransport
import Synchronization

/// What the system calls its interfaces.
final class InterfaceNames: Sendable {
  private let names = Mutex<[UInt32: String]>([:])

  /// The name of the interface with that index; the number itself where it has gone.
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
