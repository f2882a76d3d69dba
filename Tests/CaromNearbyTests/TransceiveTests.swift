import CaromCore
import CaromDiscovery
import CaromNearby
import CaromSession
import CaromTransport
import Testing

/// Peers that find each other by multicast DNS over the loopback interface.
@Suite(.timeLimit(.minutes(1)), .serialized) struct TransceiveTests {
  @Test func `two that transceive are connected, and talk`() async throws {
    let type = try makeServiceType()
    try await withNetworkLoop { loop in
      async let leo = makeNearby("Leo", type, on: loop).transceive { nearby in
        for await line in nearby.session.messages(on: .lines) { return line.message }
        return ""
      }
      try await makeNearby("Maya", type, on: loop).transceive { nearby in
        let peers = await nearby.joined()
        let peer = try #require(peers.first)
        #expect(peer.name == "Leo")
        try await peer.send("hello", on: .lines)
        for await event in nearby.session.events { if case .left = event { break } }
      }
      #expect(try await leo == "hello")
    }
  }

  @Test func `eight that start within a second are all connected with each other`() async throws {
    let type = try makeServiceType()
    try await withNetworkLoop { loop in
      let meshed = MeetingPoint(8)
      try await withThrowingTaskGroup { tasks in
        for number in 0..<8 {
          tasks.addTask {
            try await loop.sleep(until: loop.now + .milliseconds(140 * number))
            try await makeNearby("peer \(number)", type, on: loop).transceive { nearby in
              let peers = await nearby.joined(7)
              #expect(Set(peers.map(\.name)).count == 7)
              #expect(!peers.contains { $0.id == nearby.local.id })
              // All stay until each of them is connected with all others.
              await meshed.arrive()
            }
          }
        }
        try await tasks.waitForAll()
      }
    }
  }

  @Test func `a group of four on loopback goes on when its leader ends`() async throws {
    let type = try makeServiceType()
    let states = States()
    let submitted = MeetingPoint(4)
    try await withNetworkLoop { loop in
      try await withThrowingTaskGroup { tasks in
        for number in 0..<4 {
          tasks.addTask {
            try await makeNearby("peer \(number)", type, on: loop).transceive { nearby in
              try await nearby.session.withGroup(Lines()) { group in
                try await group.waitForMembers(4)
                let leader = await group.leader
                try await group.apply("\(number) first")
                await submitted.arrive()
                if leader == nearby.local.id { return }
                try await group.apply("\(number) second")
                try await group.waitForMembers(3)
                try await group.wait { $0.lines.count == 7 }
                await states.add(await group.state)
                await states.wait(for: 3)
              }
            }
          }
        }
        try await tasks.waitForAll()
      }
    }
    let all = await states.all
    #expect(Set(all.map(\.lines)).count == 1)
    #expect(Set(try #require(all.first).lines).count == 7)
  }
}
