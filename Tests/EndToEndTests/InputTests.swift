import AirHockeyTerminal
import Carom
import Foundation
import Synchronization
import Testing

@testable import air_hockey

/// Input takes effect when it arrives, not at the next frame.
@Suite struct InputTests {
  /// A display whose input is a pipe. Any key is the command to quit.
  private final class PipeDisplay: GameDisplay, Sendable {
    private let input = Pipe()
    private let isKeyPressed = Mutex(false)
    private let frames: AsyncStream<Void>.Continuation

    init(_ frames: AsyncStream<Void>.Continuation) { self.frames = frames }

    var inputDescriptor: Int32? { input.fileHandleForReading.fileDescriptor }

    func pressKey() throws {
      isKeyPressed.withLock { $0 = true }
      try input.fileHandleForWriting.write(contentsOf: Data("q".utf8))
    }

    func readCommands(at now: Instant) -> [Controls.Command]? {
      guard isKeyPressed.withLock({ $0 }) else { return nil }
      _ = input.fileHandleForReading.availableData
      return [.quit]
    }

    func present(_ view: TableView) { frames.yield() }
  }

  @Test func `a key that is pressed between two frames is handled before the next`() async throws {
    let (frames, continuation) = AsyncStream.makeStream(of: Void.self)
    let display = PipeDisplay(continuation)
    try await withNetworkLoop { loop in
      var setup = NetGame.Setup(name: "Maya", bot: true, strength: .easy)
      setup.waitingFrame = .seconds(30)
      let game = NetGame(setup, on: loop)
      try await game.begin { display }
      for await _ in frames { break }
      let start = ContinuousClock.now
      try display.pressKey()
      #expect(await game.finish().endReason == "quit")
      #expect(ContinuousClock.now - start < .seconds(20))
    }
  }
}
