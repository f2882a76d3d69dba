import CaromCore
import Testing

@testable import CaromSimulation

/// The local player's inputs: their delay, and what is sent of them.
@Suite struct RollbackLocalInputTests {
  private func makeSession(delay: Int, window: Int = 20) -> RollbackSession<Swarm> {
    RollbackSession(
      Swarm(count: 2, seed: 1),
      RollbackConfiguration(local: 0, window: window, inputDelay: delay), at: .zero)
  }

  private func inputs(_ session: RollbackSession<Swarm>) -> [Swarm.Input] {
    let buffer = session.rollback.buffers[0]
    return (0..<buffer.end.rawValue).map { buffer[Tick($0)] }
  }

  @Test func `an input applies as many ticks later as the delay has, after neutral inputs`() {
    var session = makeSession(delay: 3)
    session.advance(with: Swarm.Input(push: 7, wish: .spawn))
    #expect(session.inputDelay == 3)
    #expect(
      inputs(session) == [
        Swarm.Input(), Swarm.Input(), Swarm.Input(), Swarm.Input(push: 7, wish: .spawn),
      ])
    session.advance(with: Swarm.Input(push: 8))
    #expect(inputs(session).count == 5 && inputs(session)[4] == Swarm.Input(push: 8))
  }

  @Test func `a longer delay is filled with the last input without its action`() {
    var session = makeSession(delay: 0)
    session.advance(with: Swarm.Input(push: 7, wish: .spawn))
    session.setInputDelay(3)
    session.advance(with: Swarm.Input(push: 9))
    let held = Swarm.Input(push: 7)
    #expect(
      inputs(session) == [
        Swarm.Input(push: 7, wish: .spawn), held, held, held, Swarm.Input(push: 9),
      ])
  }

  @Test func `a shorter delay merges the inputs of ticks that have one already`() {
    var session = makeSession(delay: 2)
    session.advance(with: Swarm.Input(push: 1))
    session.setInputDelay(0)
    session.advance(with: Swarm.Input(push: 2, wish: .spawn))
    session.advance(with: Swarm.Input(push: 3))
    #expect(inputs(session).count == 3)
    session.advance(with: Swarm.Input(push: 4))
    #expect(inputs(session).suffix(2) == [Swarm.Input(push: 1), .init(push: 4, wish: .spawn)])
    session.advance(with: Swarm.Input(push: 5))
    #expect(inputs(session).last == Swarm.Input(push: 5))
  }

  @Test func `the input of a stall is merged into that of the next tick`() {
    var session = makeSession(delay: 0, window: 1)
    #expect(session.advance(with: Swarm.Input(push: 1)) == .stepped)
    #expect(session.advance(with: Swarm.Input(push: 2, wish: .kill)) == .stalled)
    #expect(session.advance(with: Swarm.Input(push: 3)) == .stalled)
    #expect(session.rollback.statistics.stalls == 2)
    // The input of tick 1 is taken by the first of these calls; later ones wait for tick 2.
    #expect(inputs(session) == [Swarm.Input(push: 1), Swarm.Input(push: 2, wish: .kill)])
    session.setWindow(30)
    #expect(session.advance(with: Swarm.Input(push: 4, wish: .spawn)) == .stepped)
    #expect(session.advance(with: Swarm.Input(push: 5)) == .stepped)
    #expect(inputs(session).last == Swarm.Input(push: 5, wish: .spawn))
  }

  private func makeClient(inputDelay: Int = 0) throws -> RollbackClient<Swarm> {
    var client = RollbackClient<Swarm>(player: 0, inputDelay: inputDelay, at: .zero)
    try client.receive(.keyframe(of: 0), at: .zero)
    return client
  }

  private func inputs(_ client: RollbackClient<Swarm>) -> [Swarm.Input] {
    guard let buffer = client.rollback?.localInputs else { return [] }
    return (0..<buffer.end.rawValue).map { buffer[Tick($0)] }
  }

  @Test func `a client's longer delay is filled with the last input without its action`() throws {
    var client = try makeClient()
    #expect(inputs(client) == [Swarm.Input()])
    client.advance(with: Swarm.Input(push: 7, wish: .spawn))
    client.inputDelay = 2
    client.advance(with: Swarm.Input(push: 9))
    let held = Swarm.Input(push: 7)
    #expect(
      inputs(client).dropFirst() == [.init(push: 7, wish: .spawn), held, held, .init(push: 9)])
  }

  @Test func `a client's shorter delay merges the inputs of ticks that have one already`() throws {
    var client = try makeClient(inputDelay: 2)
    client.advance(with: Swarm.Input(push: 1))
    #expect(inputs(client).count == 4)
    client.inputDelay = 0
    client.advance(with: Swarm.Input(push: 2, wish: .spawn))
    client.advance(with: Swarm.Input(push: 3))
    #expect(inputs(client).count == 4)
    client.advance(with: Swarm.Input(push: 4))
    #expect(inputs(client).suffix(2) == [.init(push: 1), .init(push: 4, wish: .spawn)])
    client.advance(with: Swarm.Input(push: 5))
    #expect(inputs(client).last == Swarm.Input(push: 5))
  }
}
