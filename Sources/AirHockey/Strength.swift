/// The strength of a computer player.
public enum Strength: UInt8, Hashable, Sendable, CaseIterable {
  /// A weak player that reacts late, moves slowly and aims badly.
  case easy = 0
  /// An average player.
  case medium = 1
  /// A strong player that is fast and accurate.
  case hard = 2

  /// The delay with which the player sees the puck, in ticks.
  var delay: Int {
    switch self {
    case .easy: 18
    case .medium: 12
    case .hard: 5
    }
  }

  /// The maximum speed of the player's mallet, in meters per second.
  var speed: Double {
    switch self {
    case .easy: 2.4
    case .medium: 4.5
    case .hard: 6.5
    }
  }

  /// The maximum error of a shot at the opponent's goal, in meters.
  var aimError: Double {
    switch self {
    case .easy: 0.38
    case .medium: 0.16
    case .hard: 0.08
    }
  }

  /// The maximum error of the player's estimate of where the puck will cross the guarding line, in
  /// meters.
  var guardError: Double {
    switch self {
    case .easy: 0.20
    case .medium: 0.10
    case .hard: 0.04
    }
  }

  /// The maximum distance of the mallet's center from the line of a shot at which the player
  /// strikes, as a fraction of the distance between the centers of the mallet and the puck when
  /// they touch.
  var alignment: Double {
    switch self {
    case .easy: 0.35
    case .medium: 0.2
    case .hard: 0.1
    }
  }

  /// The weight that the player gives to the position of the opponent's mallet when it chooses a
  /// shot, from 0 to 1.
  var awareness: Double {
    switch self {
    case .easy: 0
    case .medium: 0.6
    case .hard: 1
    }
  }
}
