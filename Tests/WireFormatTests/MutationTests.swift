import CaromCore
import CaromProtocol
import CaromTesting
import Foundation
import Testing

/// Feeds recorded sessions with random changes to a peer, like input from a faulty implementation.
@Suite struct MutationTests {
  #if DEBUG
    static let inputs = 3_000
  #else
    static let inputs = 200_000
  #endif

  /// A peer that has read the stream up to some position, and the rest of the stream.
  private struct Stage {
    let replay: Replay
    let rest: [UInt8]
  }

  struct Fault: Error, CustomStringConvertible { let description: String }

  /// Makes peers that have read the stream up to various positions, inside frames and between them.
  private static func makeStages(
    _ start: Replay, _ stream: [UInt8], opening: Int, at now: Instant
  ) -> [Stage] {
    var stages = [Stage(replay: start, rest: stream)]
    var replay = start
    var position = 0
    for next in [opening] + Array(stride(from: 101, to: stream.count - 8, by: 101))
    where next > position {
      replay.receive(stream.span.extracting(position..<next), at: now)
      replay.discardOutput()
      position = next
      stages.append(Stage(replay: replay, rest: Array(stream[next...])))
    }
    return stages
  }

  /// Makes one to four changes: a byte is changed, inserted or removed, the preceding bytes are
  /// repeated, or the rest is cut off.
  private static func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
    for _ in 0...(generator.next() & 3) {
      guard !bytes.isEmpty else { return }
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      let byte = UInt8(truncatingIfNeeded: generator.next())
      switch generator.next() & 15 {
      case 0: bytes.insert(byte, at: index)
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(contentsOf: bytes[max(0, index - 20)..<index], at: index)
      case 3: bytes.removeSubrange(index...)
      case 4...8: bytes[index] ^= 1 << (byte & 7)
      default: bytes[index] = byte
      }
    }
  }

  private static func run(_ stages: [Stage], seed: UInt64, at now: Instant) throws {
    var generator = SeededGenerator(seed: seed)
    let stage = stages[Int.random(in: 0..<stages.count, using: &generator)]
    let isLong = generator.chance(0.001)
    let length = isLong ? stage.rest.count : Int.random(in: 1...250, using: &generator)
    var bytes = Array(stage.rest.prefix(length))
    mutate(&bytes, using: &generator)
    var replay = stage.replay
    let cut = Int.random(in: 0...bytes.count, using: &generator)
    replay.receive(bytes.span.extracting(..<cut), at: now)
    replay.receive(bytes.span.extracting(cut...), at: now)
    // Silence ends the connection as well, but takes a dozen pings; test that once in 16 inputs.
    if generator.next() & 15 != 0 { replay.end(.ended, at: now) }
    let isOver = replay.runOut(from: now)
    if !isOver { throw Fault(description: "the timeouts do not end") }
    if replay.endings != 1 {
      throw Fault(description: "the connection reported \(replay.endings) ends")
    }
    if !replay.endsQuietly { throw Fault(description: "an event followed the end") }
  }

  @Test(arguments: [true, false])
  func `a peer ends a changed stream exactly once and never traps`(isHost: Bool) throws {
    let session = try RecordedSession(ticks: 200)
    let stages = Self.makeStages(
      isHost ? .host(of: session) : .client(of: session),
      isHost ? session.toHost : session.toClient,
      opening: isHost ? session.requestLength : session.grantLength, at: session.now)
    let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]
    try Seeds(Self.inputs, replay: replay).check { seed in
      try Self.run(stages, seed: seed, at: session.now)
    }
  }
}
