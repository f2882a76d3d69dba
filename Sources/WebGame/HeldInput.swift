import CaromSimulation

/// A player's input, which lasts until the page sets another one.
struct HeldInput<Input: SimulationInput>: Sendable {
  private var input = Input()
  /// Whether no tick has had the input yet.
  private var isNew = false

  /// Sets the input from the next tick on. Two inputs that have to share that tick are merged.
  mutating func set(_ next: Input) {
    input = isNew ? input.merged(with: next) : next
    isNew = true
  }

  /// Returns the input for the next tick. Later ticks repeat it without its one-time actions.
  mutating func take() -> Input {
    defer {
      input = input.held
      isNew = false
    }
    return input
  }
}
