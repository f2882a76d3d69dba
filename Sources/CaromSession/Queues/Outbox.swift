import CaromProtocol
import Synchronization

/// Messages that other threads have posted and the loop has not seen yet.
final class Outbox: Sendable {
  /// The most messages that wait.
  static let limit = 4096
  /// The most bytes that wait.
  static let byteLimit = 4 << 20

  enum Target: Sendable {
    case one(ConnectionID)
    case all
  }

  struct Entry: Sendable {
    let bytes: [UInt8]
    let channel: UInt8
    let options: SendOptions
    let target: Target
  }

  enum Outcome {
    case isFirst, isMore, refused
  }

  private struct State: Sendable {
    var entries: [Entry] = []
    var bytes = 0
  }

  private let state = Mutex(State())

  func append(_ entry: Entry) -> Outcome {
    state.withLock { state in
      guard state.entries.count < Self.limit,
        state.bytes + entry.bytes.count <= Self.byteLimit
      else { return .refused }
      state.entries.append(entry)
      state.bytes += entry.bytes.count
      return state.entries.count == 1 ? .isFirst : .isMore
    }
  }

  func take() -> [Entry] {
    state.withLock { state in
      defer { state = State() }
      return state.entries
    }
  }
}
