import Carom
import Foundation
import SessionPeers
import Synchronization

/// One side of `bench files`: a process that sends a file to the other side, or receives it. A side
/// is started as `bench session-peer files ROLE name=value…`.
enum FilesSide {
  /// The time between two round trips of small messages.
  private static let interval = Duration.milliseconds(10)

  static func run(_ role: SessionSubject.Role) async throws {
    SessionCarom.begin()
    let loop = try NetworkLoop(name: role.rawValue)
    if role == .send { try await send(on: loop) } else { try await receive(on: loop) }
  }

  private static var links: LinkKinds {
    SessionCarom.text("link", "") == SessionCarom.Link.datagrams.rawValue ? .datagram : .stream
  }

  /// Receives one file, and answers small messages until standard input ends.
  private static func receive(on loop: NetworkLoop) async throws {
    let port = UInt16(SessionCarom.number("port", 0))
    try await Session.host(
      as: SessionCarom.peer(0), port: port, on: [.any4], over: links, loop: loop
    ) { session, port in
      try await session.withFiles { files in
        try await withThrowingTaskGroup { group in
          group.addTask {
            for await echo in session.messages(on: .small) {
              try await echo.peer.send(echo.message, on: .small)
            }
          }
          side_listens(port)
          for await offer in files.offers {
            let begin = side_cost_now()
            let transfer = offer.accept(
              into: SessionCarom.text("folder", "."), as: FileName("received"), existing: .replace)
            try await transfer.waitUntilComplete()
            printCost(since: begin)
            SessionOutput.status("done")
          }
          try await group.waitForAll()
        }
      }
    }
  }

  /// Measures round trips on the idle connection, and again while a file is being sent.
  private static func send(on loop: NetworkLoop) async throws {
    try await Session.join(
      [SessionCarom.server()], as: SessionCarom.peer(1), over: links, loop: loop
    ) { session, host in
      try await session.withFiles { files in
        SessionOutput.status("ready")
        try await measureRoundTrips("idle", session, host) {
          try await loop.sleep(until: loop.now + .seconds(SessionCarom.number("idle", 2)))
        }
        try await measureRoundTrips("beside", session, host) {
          let hashing = side_now()
          let path = SessionCarom.text("path", "")
          guard let transfer = try await files.send(path, to: [host]).first else { return }
          let begin = (time: side_now(), cost: side_cost_now())
          try await transfer.waitUntilComplete()
          let bits = Double(transfer.size) * 8
          SessionOutput.figure("hashing", bits * 1e3 / Double(begin.time - hashing))
          SessionOutput.figure("goodput", bits * 1e3 / Double(side_now() - begin.time))
          printCost(since: begin.cost)
        }
        SessionOutput.status("done")
        // Waits until the process's standard input ends.
        await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
      }
    }
  }

  /// Runs `body`, and prints the times of the round trips of small messages meanwhile.
  private static func measureRoundTrips(
    _ name: String, _ session: Session, _ host: Peer, _ body: () async throws -> Void
  ) async throws {
    let isDone = Mutex(false)
    async let trips: Void = {
      var times = SessionTimes()
      var echoes = session.messages(on: .small).makeAsyncIterator()
      while !isDone.withLock({ $0 }) {
        let begin = side_now()
        try await host.send(SessionBytes(SIDE_IS_SMALL, 0, count: Int(SIDE_SMALL)), on: .small)
        guard await echoes.next() != nil else { break }
        times.add(side_now() - begin)
        try await session.loop.sleep(until: session.loop.now + interval)
      }
      times.printFigures(name)
    }()
    try await body()
    isDone.withLock { $0 = true }
    try await trips
  }

  /// Prints the processor time of this side in seconds, and the most memory that it has had.
  private static func printCost(since begin: side_cost) {
    SessionOutput.figure("cpu", Double(side_cost_now().all - begin.all) / 1e9)
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
    SessionOutput.figure("memory", (kibibytes ?? .nan) / 1_024)
  }
}
