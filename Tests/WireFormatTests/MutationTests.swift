import CaromCore
import CaromProtocol
import CaromTesting
import Foundation
import Testing

/// Bytes from a stranger who knows the protocol almost: recorded sessions with mistakes in them.
@Suite struct MutationTests {
  #if DEBUG
    static let inputs = 3_000
  #else
    static let inputs = 200_000
  #endif

  /// A side that has read the stream so far, and what is still to come.
  private struct Stage {
    let replay: Replay
    let rest: [UInt8]
  }

  struct Misbehaved: Error, CustomStringConvertible { let description: String }

  /// Sides at each of some places of the stream, inside frames and between them.
  private static func makeStages(
    _ start: Replay, _ stream: [UInt8], opening: Int, at now: Instant
  ) -> [Stage] {
    var stages = [Stage(replay: start, rest: stream)]
    var replay = start
    var position = 0
    for next in [opening] + Array(stride(from: 101, to: stream.count - 8, by: 101))
    where next > position {
      replay.receive(stream.span.extracting(position..<next), at: now)
      replay.forget()
      position = next
      stages.append(Stage(replay: replay, rest: Array(stream[next...])))
    }
    return stages
  }

  /// One to four mistakes: a byte changed, put in, left out, or the bytes before said again.
  private static func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
    for _ in 0...(generator.next() & 3) {
      guard !bytes.isEmpty else { return }
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      let byte = UInt8(truncatingIfNeeded: generator.next())
      switch generator.next() & 15 {
      case 0: bytes.insert(byte, at: place)
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(contentsOf: bytes[max(0, place - 20)..<place], at: place)
      case 3: bytes.removeSubrange(place...)
      case 4...8: bytes[place] ^= 1 << (byte & 7)
      default: bytes[place] = byte
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
    // Silence ends it as well, but takes a dozen pings: one in sixteen.
    if generator.next() & 15 != 0 { replay.end(.ended, at: now) }
    let isOver = replay.runOut(from: now)
    if !isOver { throw Misbehaved(description: "deadlines without end") }
    if replay.endings != 1 { throw Misbehaved(description: "\(replay.endings) endings") }
    if !replay.endsQuietly { throw Misbehaved(description: "something after the end") }
  }

  @Test(arguments: [true, false])
  func `whatever is changed in a stream, a side ends once and never traps`(isHost: Bool) throws {
    let session = try RecordedSession(ticks: 200)
    let stages = Self.makeStages(
      isHost ? .host(of: session) : .guest(of: session),
      isHost ? session.toHost : session.toGuest,
      opening: isHost ? session.requestLength : session.grantLength, at: session.now)
    let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]
    try Seeds(Self.inputs, replay: replay).check { seed in
      try Self.run(stages, seed: seed, at: session.now)
    }
  }
}
