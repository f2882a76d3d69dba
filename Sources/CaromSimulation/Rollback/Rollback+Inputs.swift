import CaromCore

extension Rollback {
  /// Adds a player's input for the tick after the player's last known input.
  @inlinable public mutating func addInput(_ input: Game.Input, for player: Int) {
    let tick = buffers[player].next
    buffers[player].append(input)
    correct(input, for: player, at: tick)
  }

  /// Adds the new inputs of a received run. Ignores inputs that are `ahead` or more ticks after the
  /// confirmed tick; the sender repeats them.
  mutating func addInputs(_ run: [Game.Input], for player: Int, from tick: Tick) {
    var at = buffers[player].next
    buffers[player].merge(run, from: tick, before: confirmed.advanced(by: Self.ahead))
    while at < buffers[player].next {
      correct(buffers[player][at], for: player, at: at)
      at = at.next
    }
  }

  /// Schedules the local player's input for `delay` ticks after the current tick. Earlier ticks
  /// without an input get the `held` form of the last input. Returns false if the target tick
  /// already has an input.
  mutating func addLocalInput(_ input: Game.Input, delay: Int) -> Bool {
    guard var end = localInputs?.end else { return false }
    let target = now.advanced(by: Int64(delay))
    while end < target {
      let held = localInputs?.input(at: target) ?? Game.Input()
      localInputs?.append(held)
      end = end.next
    }
    guard end == target else { return false }
    localInputs?.append(input)
    return true
  }

  /// Confirms the `count` local inputs from `tick` on, which the server accepted unchanged. Throws
  /// `invalid` if `localInputs` does not contain all of these ticks.
  mutating func confirmLocalInputs(from tick: Tick, _ count: Int) throws(DecodeError) {
    guard let localInputs, tick >= localInputs.oldest,
      tick.advanced(by: Int64(count)) <= localInputs.end
    else {
      throw .invalid(what: "local inputs")
    }
    while buffers[localPlayer].end < tick.advanced(by: Int64(count)) {
      addInput(localInputs[buffers[localPlayer].end], for: localPlayer)
    }
  }

  /// Removes a player from the match: at `tick` and later, the player's input is neutral. All peers
  /// must agree on `tick`, which must not be before the confirmed tick.
  @inlinable public mutating func disconnect(player: Int, at tick: Tick) {
    precondition(tick >= confirmed, "a player cannot be disconnected before the confirmed tick")
    guard disconnectTicks[player] == nil else { return }
    disconnectTicks[player] = tick
    if tick < now { firstWrong = min(firstWrong ?? tick, tick) }
  }

  /// Lets a disconnected player take part again: from `tick` on, its inputs count. All peers must
  /// agree on `tick`, which must not be before the confirmed tick.
  mutating func reconnect(player: Int, at tick: Tick) {
    precondition(tick >= confirmed, "a player cannot return before the confirmed tick")
    // The ticks of the absence that may be simulated again get neutral inputs, as before.
    let absence = Int64(InputBuffer<Game.Input>.capacity * 3 / 4)
    if buffers[player].end.distance(to: tick) > absence {
      buffers[player] = InputBuffer(from: tick.advanced(by: -absence))
    }
    while buffers[player].end < tick { buffers[player].append(Game.Input()) }
    disconnectTicks[player] = nil
  }

  /// Marks `tick` for correction if it was simulated with a different input of this player.
  @inlinable mutating func correct(_ input: Game.Input, for player: Int, at tick: Tick) {
    guard tick < now else { return }
    if let left = disconnectTicks[player], tick >= left { return }
    guard used[slot(tick) * playerCount + player] != input else { return }
    firstWrong = min(firstWrong ?? tick, tick)
  }

  @inlinable func input(for player: Int, at tick: Tick) -> Game.Input {
    if let left = disconnectTicks[player], tick >= left { return Game.Input() }
    if player == localPlayer, tick >= buffers[player].next, let localInputs, tick < localInputs.next
    {
      return localInputs[tick]
    }
    return buffers[player].input(at: tick)
  }
}
