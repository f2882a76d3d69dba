import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Logging
import MetricsTestKit
import ServiceLifecycle
import Synchronization
import Testing

@testable import CaromServer

/// A log handler that stores the log lines.
private struct KeepingHandler: LogHandler {
  let lines: Lines
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let details = (event.metadata ?? [:]).filter { $0.key != "peer.id" }
    let text = details.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    lines.append("\(event.level) \(event.message) \(text.joined(separator: " "))")
  }
}

@Suite struct CaromServerTests {
  @Test func `joining and leaving are logged and counted`() async throws {
    let lines = KeepingHandler.Lines()
    let logger = Logger(label: "test") { _ in KeepingHandler(lines: lines) }
    let factory = TestMetrics()
    let metrics = SessionMetrics(factory: factory)
    try await withNetworkLoop { loop in
      try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) {
        session, port in
        await session.log(to: logger)
        let reporting = Task { await session.report(to: metrics, every: .milliseconds(5)) }
        // Over one kind of link, since a change of links would be logged too.
        try await Session.join(
          [Endpoint(.loopback4, port: port)], as: makePeer("client"), over: .stream, loop: loop
        ) { _, _ in
          for await event in session.events { if case .joined = event { break } }
          while try factory.expectRecorder("carom.peers").lastValue != 1 { try await nextPoll() }
        }
        for await event in session.events { if case .left = event { break } }
        reporting.cancel()
        await reporting.value
      }
    }
    // The cipher depends on the processor.
    let joined = "info peer joined peer.name=client peer.spectator=false protection=anyone, XX, "
    #expect(lines.all.first?.hasPrefix(joined) == true)
    #expect(
      lines.all.dropFirst() == [
        "info peer left peer.name=client peer.spectator=false reason=finished"
      ])
    #expect(try factory.expectCounter("carom.joined").totalValue <= 1)
    #expect(try factory.expectCounter("carom.left").totalValue == 1)
    #expect(try factory.expectCounter("carom.bytes.received").totalValue > 0)
  }

  @Test func `a graceful shutdown sends goodbyes`() async throws {
    try await withNetworkLoop { loop in
      let (ports, announce) = AsyncStream.makeStream(of: UInt16.self)
      let host = makePeer("host")
      let service = SessionService(on: loop) { loop in
        try await Session.host(as: host, on: [.loopback4], loop: loop) { session, port in
          announce.yield(port)
          for await _ in session.events {}
        }
      }
      let group = ServiceGroup(
        configuration: .init(
          services: [.init(service: service, successTerminationBehavior: .ignore)],
          logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
      let running = Task { try await group.run() }
      var waiting = ports.makeAsyncIterator()
      let port = try #require(await waiting.next())
      let reason = try await Session.join(
        [Endpoint(.loopback4, port: port)], as: makePeer("client"), loop: loop
      ) { session, _ -> DisconnectReason? in
        await group.triggerGracefulShutdown()
        for await event in session.events { if case .left(_, let reason) = event { return reason } }
        return nil
      }
      #expect(reason == .finished)
      try await running.value
    }
  }
}
