import CaromCore
import CaromDNS
import CaromTransport
import Foundation
import Testing

@testable import CaromDiscovery

/// Tests that count the sockets of the whole process; each runs in a child process.
@Suite(.timeLimit(.minutes(1))) struct LifetimeTests {
  #if DEBUG
    static let rounds = 100
  #else
    static let rounds = 300
  #endif

  @Test func `starting and stopping discovery repeatedly leaves no socket open`() async {
    await #expect(processExitsWith: .success) {
      try await withNetworkLoop { loop in
        let sockets = try countSockets()
        for _ in 0..<LifetimeTests.rounds { try await startAndStop(loop) }
        try await waitForSockets(sockets)
      }
    }
  }

  @Test func `releasing everything without stopping it leaves no socket open`() async {
    await #expect(processExitsWith: .success) {
      try await withNetworkLoop { loop in
        let sockets = try countSockets()
        for _ in 0..<20 { try await startAndDrop(loop) }
        try await waitForSockets(sockets)
      }
    }
  }

  @Test func `advertisers and browsers of one program share their sockets`() async {
    await #expect(processExitsWith: .success) {
      try await withNetworkLoop { loop in
        let type = try Loopback.makeType()
        var first = Loopback.browser(type, loop).changes.makeAsyncIterator()
        let service = AdvertisedService(
          name: AdvertisedService.uniqueName("X"), type: type, port: 1, isNameUnique: true)
        try await Loopback.advertiser(service, loop).run { _ in
          _ = try await first.next()
          let sockets = try countSockets()
          var others: [DiscoveryChanges<DiscoveredService>.Iterator] = []
          for _ in 0..<10 {
            var iterator = Loopback.browser(type, loop).changes.makeAsyncIterator()
            _ = try await iterator.next()
            others.append(iterator)
          }
          let after = try countSockets()
          precondition(after == sockets, "\(after) != \(sockets)")
        }
      }
    }
  }

  @Test func `browsing ends when it is cancelled or its loop shuts down, at any moment`() async {
    await #expect(processExitsWith: .success) {
      let sockets = try countSockets()
      for round in 0..<40 {
        let loop = try NetworkLoop()
        let type = try Loopback.makeType()
        let tasks = (0..<4).map { _ in
          Task { for try await _ in Loopback.browser(type, loop).changes {} }
        }
        for _ in 0..<round * 20 { await Task.yield() }
        if round % 2 == 0 { for task in tasks { task.cancel() } }
        await loop.shutdown()
        for task in tasks { _ = await task.result }
      }
      try await waitForSockets(sockets)
    }
  }
}

/// Advertises a service, browses until it is found, and stops both.
private func startAndStop(_ loop: NetworkLoop) async throws {
  let type = try Loopback.makeType()
  let service = AdvertisedService(
    name: AdvertisedService.uniqueName("X"), type: type, port: 1, isNameUnique: true)
  try await Loopback.advertiser(service, loop).run { _ in
    for try await change in Loopback.browser(type, loop).changes {
      if case .added = change { break }
    }
  }
}

private func startAndDrop(_ loop: NetworkLoop) async throws {
  let type = try Loopback.makeType()
  let poller = try DiscoveryPoller(interfaces: Loopback.selection, on: loop)
  _ = poller.browse(type)
  _ = Loopback.browser(type, loop).changes.makeAsyncIterator()
  try await loop.run {
    let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
    try core.advertise(Loopback.makeService(type)) { _ in }
  }
}

/// Waits until at most `count` sockets are open. The loop closes released sockets asynchronously.
private func waitForSockets(_ count: Int) async throws {
  for _ in 0..<100_000 {
    if try countSockets() <= count { return }
    await Task.yield()
  }
  let left = try countSockets()
  fatalError("\(left) sockets are open, \(count) expected")
}

/// The number of sockets that the process has open. Other descriptors are not counted, since the
/// runtime opens some of its own.
private func countSockets() throws -> Int {
  #if os(Linux)
    let folder = "/proc/self/fd/"
    return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: folder + name)
      return target?.hasPrefix("socket:") ?? false
    }
  #else
    return 0
  #endif
}
