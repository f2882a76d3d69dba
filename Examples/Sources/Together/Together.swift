import Carom

/// Four things that peers of one network do together, each with all its peers in this process, over
/// loopback: `Together cards`, `typing`, `remote` or `sensors`; without an argument, all four.
@main enum Together {
  static func main() async throws {
    let examples: [(name: String, run: (NetworkLoop) async throws -> Void)] = [
      ("cards", cards), ("typing", typing), ("remote", remote), ("sensors", sensors),
    ]
    let name = CommandLine.arguments.dropFirst().first
    try await withNetworkLoop { loop in
      for example in examples where name == nil || name == example.name {
        try await example.run(loop)
      }
    }
  }

  /// A peer on the loopback interface. The type is one that no other program uses now.
  private static func makeNearby(
    _ name: String, _ type: ServiceType, on loop: NetworkLoop
  ) -> Nearby {
    var nearby = Nearby(name, type: type, on: loop)
    nearby.interfaces = .named(["lo"])
    return nearby
  }

  private static func makeType() throws -> ServiceType {
    let number = UInt32.random(in: 0..<(1 << 31))
    return try ServiceType(name: "demo-\(String(number, radix: 36))", transport: .udp)
  }

  /// Four players; one of them leaves in the second round.
  private static func cards(on loop: NetworkLoop) async throws {
    let type = try makeType()
    let games = try await withThrowingTaskGroup { tasks in
      for (name, limit) in [("Ada", nil), ("Bo", 1), ("Cleo", nil), ("Dan", nil)] {
        tasks.addTask {
          try await makeNearby(name, type, on: loop).transceive { nearby in
            try await playCards(in: nearby, seats: 4, leavingInRound: limit)
          }
        }
      }
      return try await tasks.reduce(into: []) { $0.append($1) }
    }
    let winners = games.compactMap(\.winner)
    guard winners.count == 3, Set(winners).count == 1 else { fatalError("different: \(games)") }
    print("cards: all three who stayed saw \(winners[0]) win")
  }

  private static func typing(on loop: NetworkLoop) async throws {
    let type = try makeType()
    let lines = ["the quick brown fox ", "jumps over ", "the lazy dog "]
    let length = lines.reduce(0) { $0 + $1.count }
    let end = Meeting(of: lines.count)
    let texts = try await withThrowingTaskGroup { tasks in
      for (number, line) in lines.enumerated() {
        tasks.addTask {
          try await makeNearby("\(number)", type, on: loop).transceive { nearby in
            try await typeTogether(line, in: nearby, until: length) { await end.arrive() }
          }
        }
      }
      return try await tasks.reduce(into: []) { $0.append($1) }
    }
    guard Set(texts).count == 1, lines.allSatisfy(texts[0].contains) else {
      fatalError("different: \(texts)")
    }
    print("typing: all three see \"\(texts[0])\"")
  }

  private static func remote(on loop: NetworkLoop) async throws {
    let type = try makeType()
    let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
    async let holding: Void = makeNearby("remote", type, on: loop).run(.browses) { nearby in
      try await holdStick(nearby) { for await _ in stopped {} }
    }
    let drive = try await makeNearby("car", type, on: loop).run(.advertises) { nearby in
      defer { stop.finish() }
      return try await driveCar(nearby)
    }
    try await holding
    guard drive.way > 0.5, drive.overrun < .seconds(1) else { fatalError("\(drive)") }
    print("remote: the car went \(drive.way) m, and stopped after \(drive.overrun) of silence")
  }

  private static func sensors(on loop: NetworkLoop) async throws {
    let type = try makeType()
    let displays = try await withThrowingTaskGroup { tasks in
      for name in ["kitchen", "cellar"] {
        tasks.addTask {
          try await makeNearby(name, type, on: loop).transceive { nearby in
            try await showReadings(until: 90, in: nearby)
          }
        }
      }
      try await makeNearby("sensor", type, on: loop).transceive { nearby in
        try await streamReadings(100, in: nearby, displays: 2)
      }
      return try await tasks.reduce(into: []) { $0.append($1) }
    }
    for display in displays {
      guard display.count + display.lost > 90 else { fatalError("\(display)") }
      print("sensors: \(display.count) readings, the oldest \(display.oldest) old")
    }
  }
}
