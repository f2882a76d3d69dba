/// How well a computer player plays.
public enum Strength: UInt8, Hashable, Sendable, CaseIterable {
  /// Slow to see, slow to move, aims badly.
  case easy = 0
  /// A fair opponent.
  case medium = 1
  /// Quick and exact.
  case hard = 2

  /// How old what it sees is, ticks.
  var delay: Int {
    switch self {
    case .easy: 18
    case .medium: 12
    case .hard: 5
    }
  }

  /// The fastest that it moves its mallet, metres a second.
  var speed: Double {
    switch self {
    case .easy: 2.4
    case .medium: 4.5
    case .hard: 6.5
    }
  }

  /// How far off its aim at the other goal is at most, metres.
  var aimError: Double {
    switch self {
    case .easy: 0.38
    case .medium: 0.16
    case .hard: 0.08
    }
  }

  /// How far off its guess where a shot arrives is at most, metres.
  var guardError: Double {
    switch self {
    case .easy: 0.32
    case .medium: 0.20
    case .hard: 0.11
    }
  }
}
