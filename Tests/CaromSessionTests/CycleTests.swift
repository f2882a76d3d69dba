import CaromCore
import CaromTransport
import Foundation
import Testing

@testable import CaromProtocol
@testable import CaromSession

#if DEBUG
  private let cycles = 60
#else
  private let cycles = 1000
#endif

/// Counts the open descriptors of a child process, in which no other test runs. Each loop itself
/// checks that `uv_loop_close` finds nothing left open.
@Suite(.timeLimit(.minutes(1))) struct CycleTests {
  @Test func `hosts and clients that start and stop leave no open descriptor`() async {
    await #expect(processExitsWith: .success) {
      try await cycle(1)
      let descriptors = descriptorCount()
      try await cycle(cycles)
      precondition(descriptorCount() <= descriptors, "\(descriptorCount()), \(descriptors)")
    }
  }

  @Test func `hosts on several loops that start and stop leave no open descriptor`() async {
    await #expect(processExitsWith: .success) {
      try await groupCycle(1)
      let descriptors = descriptorCount()
      try await groupCycle(cycles / 20)
      precondition(descriptorCount() <= descriptors, "\(descriptorCount()), \(descriptors)")
    }
  }
}

/// Connects a host and a client over both links `count` times, up to eight pairs at a time.
private func cycle(_ count: Int) async throws {
  try await withNetworkLoop { loop in
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for number in 0..<count {
        if number >= 8 { try await tasks.next() }
        tasks.addTask { try await meet(on: loop) }
      }
      try await tasks.waitForAll()
    }
  }
}

private func meet(on loop: NetworkLoop) async throws {
  try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) { _, port in
    let endpoints = [Endpoint(.loopback4, port: port)]
    try await Session.join(endpoints, as: makePeer("client"), loop: loop) { _, host in
      try await host.waitForBothLinks()
    }
  }
}

/// Hosts a session on three new loops `count` times, each time with six clients over both links.
private func groupCycle(_ count: Int) async throws {
  try await withNetworkLoop { loop in
    for _ in 0..<count {
      try await Session.host(as: makePeer("host"), on: [.loopback4], seats: 6, loops: 3) {
        _, port in
        let endpoints = [Endpoint(.loopback4, port: port)]
        try await withThrowingTaskGroup { tasks in
          for _ in 0..<6 {
            tasks.addTask {
              try await Session.join(endpoints, as: makePeer("client"), loop: loop) { _, host in
                try await host.waitForBothLinks()
              }
            }
          }
          try await tasks.waitForAll()
        }
      }
    }
  }
}

private func descriptorCount() -> Int { (0..<1024).count { fcntl(Int32($0), F_GETFD) >= 0 } }
