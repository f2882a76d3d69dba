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
    case .easy: 14
    case .medium: 8
    case .hard: 3
    }
  }

  /// The fastest that it moves its mallet, metres a second.
  var speed: Double {
    switch self {
    case .easy: 2.0
    case .medium: 3.2
    case .hard: 5.5
    }
  }

  /// How far off its aim at the other goal is at most, metres.
  var aimError: Double {
    switch self {
    case .easy: 0.40
    case .medium: 0.22
    case .hard: 0.10
    }
  }

  /// How far off its guess where a shot arrives is at most, metres.
  var guardError: Double {
    switch self {
    case .easy: 0.16
    case .medium: 0.09
    case .hard: 0.03
    }
  }
}
