import CaromCore
import CaromDNS
import CaromTransport
import Testing

@testable import CaromDiscovery

/// Helpers for tests over real sockets: the loopback interface, and service types that nothing else
/// on this machine uses.
enum Loopback {
  static let interface = ((try? Interfaces.list()) ?? []).first { $0.isLoopback }
  static let selection = InterfaceSelection.named([interface?.name ?? "lo"])

  static func makeType() throws -> ServiceType {
    try ServiceType(name: "t\(UInt32.random(in: 0 ... .max))", transport: .tcp)
  }

  static func makeService(_ type: ServiceType, _ name: String = "L’été v1.5 \\ 🏒")
    -> AdvertisedService
  {
    AdvertisedService(name: name, type: type, port: 7777, txt: ["seats": "1/2"])
  }

  static func browser(
    _ type: ServiceType, _ loop: NetworkLoop, subtype: String? = nil
  ) -> ServiceBrowser {
    ServiceBrowser(for: type, subtype: subtype, interfaces: selection, on: loop)
  }

  static func advertiser(_ service: AdvertisedService, _ loop: NetworkLoop) -> ServiceAdvertiser {
    ServiceAdvertiser(service, interfaces: selection, on: loop)
  }
}

/// Runs `body` on the thread of a new loop, then shuts the loop down.
func onLoop<Value: Sendable>(
  _ body: @escaping @Sendable (NetworkLoop) async throws -> Value
) async throws -> Value {
  try await withNetworkLoop { loop in
    try await Task(executorPreference: loop) { try await body(loop) }.value
  }
}

/// A list of events that a test on the loop waits for, one after the other.
final class Events<Event> {
  private(set) var all: [Event] = []
  private var waiter: CheckedContinuation<Void, Never>?
  private var start = 0

  func add(_ event: Event) {
    all.append(event)
    waiter?.resume()
    waiter = nil
  }

  func next() async -> Event {
    await withCheckedContinuation { continuation in
      if start == all.count { waiter = continuation } else { continuation.resume() }
    }
    defer { start += 1 }
    return all[start]
  }

  /// Skips all events that have been added so far.
  func skip() { start = all.count }

  /// Waits for the next event that satisfies the predicate, skipping all others.
  func next(where isWanted: (Event) -> Bool) async -> Event {
    while true {
      let event = await next()
      if isWanted(event) { return event }
    }
  }
}

/// Records a test failure for an unexpected event.
func fail(_ location: SourceLocation = #_sourceLocation) {
  Issue.record("another event was expected", sourceLocation: location)
}
