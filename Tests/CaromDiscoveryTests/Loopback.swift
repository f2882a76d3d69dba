import CaromCore
import CaromDNS
import CaromTransport
import Testing

@testable import CaromDiscovery

/// What the tests over real sockets share: the loopback interface, and types that nobody else on
/// this machine uses.
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

/// Runs `body` on a new loop's thread; the loop has to close cleanly afterwards.
func onLoop<Value: Sendable>(
  _ body: @escaping @Sendable (NetworkLoop) async throws -> Value
) async throws -> Value {
  try await withNetworkLoop { loop in
    try await Task(executorPreference: loop) { try await body(loop) }.value
  }
}

/// What happened, in order, for a test on the loop that waits for the next of it.
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

  /// What has happened is not waited for.
  func skip() { start = all.count }

  /// The next event that satisfies the predicate; those before it are skipped.
  func next(where isWanted: (Event) -> Bool) async -> Event {
    while true {
      let event = await next()
      if isWanted(event) { return event }
    }
  }
}

/// Says that something else was expected; nothing follows.
func fail(_ location: SourceLocation = #_sourceLocation) {
  Issue.record("something else was expected", sourceLocation: location)
}
