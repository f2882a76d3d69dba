/// What a host can run: a game and its version. Only equal versions play together.
public struct GameVersion: Hashable, Sendable {
  /// The name of the game: 1 to 63 visible ASCII characters.
  public let game: String
  /// The version: 1 to 63 visible ASCII characters. Versions are compared for equality only.
  public let version: String

  /// Creates a version of a game. Both texts must have 1 to 63 visible ASCII characters.
  public init(_ game: String, _ version: String) {
    precondition(FleetText.isValid(game), "a game's name has 1 to 63 visible ASCII characters")
    precondition(FleetText.isValid(version), "a version has 1 to 63 visible ASCII characters")
    self.game = game
    self.version = version
  }
}

extension GameVersion: CustomStringConvertible {
  /// The name and the version, such as "air-hockey 3".
  public var description: String { "\(game) \(version)" }
}
