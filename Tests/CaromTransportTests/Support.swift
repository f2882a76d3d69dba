import CaromCore
import Testing

@testable import CaromTransport

/// Runs `body` on the thread of a new loop, then shuts the loop down.
@discardableResult
func onLoop<Value: Sendable>(
  _ body: @escaping @Sendable (NetworkLoop) async throws -> Value
) async throws -> Value {
  try await withNetworkLoop { loop in
    try await Task(executorPreference: loop) { try await body(loop) }.value
  }
}

/// A queue of events that a test on the loop waits for, one after the other.
final class Events<Event> {
  private var events: [Event] = []
  private var waiter: CheckedContinuation<Void, Never>?

  func add(_ event: Event) {
    events.append(event)
    waiter?.resume()
    waiter = nil
  }

  var count: Int { events.count }
  var first: Event? { events.first }

  func next() async -> Event {
    // The queue is checked inside the closure, since an event may be added before it runs.
    await withCheckedContinuation { continuation in
      if events.isEmpty { waiter = continuation } else { continuation.resume() }
    }
    return events.removeFirst()
  }
}

/// A copy of a stream's event.
enum Seen: Equatable {
  case bytes([UInt8]), writable, end
  case closed(TransportError?)

  init(_ event: borrowing TCPEvent) {
    switch event {
    case .bytes(let span): self = .bytes(Array(copying: span))
    case .writable: self = .writable
    case .end: self = .end
    case .closed(let error): self = .closed(error)
    }
  }
}

extension TCPStream {
  /// Sets a handler that collects all events.
  func watch() -> Events<Seen> {
    let events = Events<Seen>()
    setHandler { events.add(Seen($0)) }
    return events
  }
}

extension Events where Event == Seen {
  /// Waits for `count` bytes. All events until then must be bytes.
  func bytes(_ count: Int) async -> [UInt8] {
    var all: [UInt8] = []
    while all.count < count {
      guard case .bytes(let bytes) = await next() else { break }
      all += bytes
    }
    return all
  }
}

/// A pair of connected streams on loopback.
struct Pair {
  let listener: TCPListener
  let client: TCPStream
  let server: TCPStream
}

func makePair(on loop: NetworkLoop) async throws -> Pair {
  let accepted = Events<TCPStream>()
  let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { event in
    if case .accepted(let stream) = event { accepted.add(stream) }
  }
  let client = try await TCPStream.connect(to: [listener.localEndpoint], on: loop)
  return Pair(listener: listener, client: client, server: await accepted.next())
}
