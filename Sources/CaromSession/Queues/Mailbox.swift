import CaromProtocol
import CaromTransport

/// What other nodes of a group have for one, which its loop has not seen yet.
final class Mailbox: Sendable {
  /// The most datagrams that wait; more are dropped, as the network drops them.
  static let datagramLimit = 4096
  /// The most streams that wait, which is the most links that there may be; more are closed.
  static let streamLimit = 4096

  struct Letter: Sendable {
    let mail: Handoff
    var stream: DetachedStream?
  }

  private struct State: Sendable {
    var letters: [Letter] = []
    var datagrams = 0
    var streams = 0
  }

  private let state = Locked(State())

  /// Puts a letter in; whether it is the first, of which the loop has to be told.
  func append(_ letter: Letter) -> Bool {
    state.withLock { state in
      switch letter.mail {
      case .datagram:
        guard state.datagrams < Self.datagramLimit else { return false }
        state.datagrams += 1
      case .stream:
        guard state.streams < Self.streamLimit else { return false }
        state.streams += 1
      case .evict, .evicted: break  // there are never more than seats
      }
      state.letters.append(letter)
      return state.letters.count == 1
    }
  }

  func take() -> [Letter] {
    state.withLock { state in
      defer { state = State() }
      return state.letters
    }
  }
}
