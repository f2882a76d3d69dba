import CaromCore
import CaromCrypto
import CaromTesting
import Foundation
import Testing

@testable import CaromProtocol

/// Somebody who guesses a host's code, with whole handshakes on the virtual network, as fast as the
/// host lets him. `make soak` makes ten thousand guesses on each kind of link.
@Suite struct GuessedCodeTests {
  private static let guesses =
    ProcessInfo.processInfo.environment["CAROM_GUESSES"].flatMap { Int($0) } ?? 800
  private static let code = try! JoinCode("K7QM-2XRT")

  private static func access(_ code: JoinCode) -> LinkAccess { .code(code, isForOneUse: false) }

  /// A host, and a client that tries one code after another, each as somebody else.
  private struct Guesser {
    var pair: VirtualPair
    private var endings = 0

    init(_ links: VirtualPeer.Links) throws {
      pair = VirtualPair(
        seed: 3, links: links, load: Load(hertz: 60, ticks: 30),
        access: (access(code), access(try JoinCode("K7QM-2XRV"))))
      // The client begins by itself, with a code that is not counted here.
      _ = try waitForEnd()
    }

    var now: Instant { pair.world.network.now }

    /// The newest report of a wrong code.
    var failure: WrongCode? {
      for event in pair.hostPeer.events.reversed() {
        if case .wrongCode(let failure) = event { return failure }
      }
      return nil
    }

    /// Tries a code. Returns the reason why the attempt has ended.
    mutating func attempt(_ code: JoinCode) throws -> DisconnectReason? {
      pair.world.withNode(of: pair.client) { node, network in
        node.restart(access: access(code), keepsIdentity: false)
        node.connectAgain(with: nil, in: &network)
      }
      return try waitForEnd()
    }

    private mutating func waitForEnd() throws -> DisconnectReason? {
      let (client, count) = (pair.client, endings + 1)
      let hasEnded = try pair.world.run(for: .seconds(5), stepLimit: VirtualPair.stepLimit) {
        $0[client]?.endings.count == count
      }
      guard hasEnded else { return nil }
      endings = count
      return pair.clientPeer.endings.last
    }

    mutating func wait(until time: Instant) throws {
      if time > now { try pair.world.run(for: time - now) }
    }
  }

  @Test(
    arguments: [
      [VirtualPeer.Links.datagram, .encrypted], [.stream, .encrypted],
    ] as [VirtualPeer.Links])
  func `guessed codes are tested one at a time, and each third one makes all others wait longer`(
    links: VirtualPeer.Links
  ) throws {
    var generator = SeededGenerator(seed: 9)
    var guesser = try Guesser(links)
    let first = guesser.failure
    #expect(first == WrongCode(count: 1, waitsUntil: nil))
    let start = guesser.now
    var (count, wait, total) = (1, Duration.seconds(30), Duration.zero)
    for number in 0..<Self.guesses {
      let guess = JoinCode(using: &generator)
      #expect(guess != Self.code)
      let reason = try guesser.attempt(guess)
      count += 1
      let reported = guesser.failure
      let failure = try #require(reported)
      #expect(reason == .wrongCode && failure.count == count, "guess \(number)")
      guard count >= 3 else {
        #expect(failure.waitsUntil == nil)
        continue
      }
      let end = try #require(failure.waitsUntil)
      let rest = end - guesser.now
      #expect(rest <= wait && rest > wait - .seconds(1))
      if number % 8 == 5 {
        // Nobody learns anything in the meantime, and the wait gets no longer.
        try guesser.wait(until: guesser.now + wait / 2)
        for code in [Self.code, guess] {
          let reason = try guesser.attempt(code)
          #expect(reason == .tooManyAttempts)
        }
        let newest = guesser.failure
        #expect(newest == failure)
      }
      try guesser.wait(until: end)
      total += wait
      wait = min(wait * 2, .seconds(600))
    }
    let elapsed = guesser.now - start
    #expect(elapsed >= total)
    if Self.guesses >= 10_000 { #expect(total > .seconds(60 * 86_400)) }
    // What all this has left behind is nothing, and those who know the code still get in.
    let host = guesser.pair.hostPeer.machine
    #expect(host.connectionIDs.isEmpty && host.strangerCount == 0 && host.keys.isEmpty)
    #expect(host.refusedAttempts.count <= 64)
    let opened = guesser.pair.hostPeer.openedAt
    #expect(opened == nil)
    guesser.pair.world.withNode(of: guesser.pair.client) { node, network in
      node.restart(access: Self.access(Self.code))
      node.connectAgain(with: nil, in: &network)
    }
    let isDone = try guesser.pair.runLoad(for: .seconds(10))
    #expect(isDone)
  }
}
