import CaromPhysics

/// The state of the game as it is shown on a screen. Positions are in meters from the center of the
/// table, x to the right and y up, rotated so that the local player is on the left.
package struct TableView: Hashable, Sendable {
  /// One end of the table.
  package enum Side: Hashable, Sendable, CaseIterable { case left, right }

  /// One player's part of the view.
  package struct Player: Hashable, Sendable {
    /// The display name. It is not checked and may contain control characters.
    package var name: String
    /// The number of goals that the player has scored.
    package var score: Int
    /// The center of the player's mallet.
    package var mallet: Vector

    /// Creates a player with the given name, score and mallet.
    package init(name: String, score: Int, mallet: Vector) {
      self.name = name
      self.score = score
      self.mallet = mallet
    }
  }

  /// Large text over the table.
  package struct Banner: Hashable, Sendable {
    /// The title, one or two words.
    package var title: String
    /// A line of text below the title, which may be empty.
    package var detail: String
    /// The side whose color the banner has, or nil for a neutral color.
    package var side: Side?

    /// Creates a banner with the given text and color.
    package init(_ title: String, detail: String = "", side: Side? = nil) {
      self.title = title
      self.detail = detail
      self.side = side
    }
  }

  /// The player on the left.
  package var left: Player
  /// The player on the right.
  package var right: Player
  /// The center of the puck, or nil while no puck is on the table.
  package var puck: Vector?
  /// The positions of the puck's center in the last frames, newest first.
  package var trail: [Vector] = []
  /// The side that has just scored, and the remaining strength of the flash, from 1 to 0. Nil if no
  /// flash is shown.
  package var flash: (side: Side, strength: Double)? {
    get { flashSide.map { ($0, flashStrength) } }
    set {
      flashSide = newValue?.side
      flashStrength = newValue?.strength ?? 0
    }
  }
  /// The banner over the table, or nil if there is none.
  package var banner: Banner?
  /// The code that is shown in place of the banner's title if the screen is large enough, or nil if
  /// there is none.
  package var code: QRCode?
  /// The left part of the status line, such as measurements of the connection.
  package var status = ""
  /// Whether the status is written in full, even if that leaves no room for the hint.
  package var isStatusWhole = false
  /// The right part of the status line, which explains the keys.
  package var hint = ""

  private var flashSide: Side?
  private var flashStrength = 0.0

  /// Creates a view with two players and, if given, a puck.
  package init(left: Player, right: Player, puck: Vector?) {
    self.left = left
    self.right = right
    self.puck = puck
  }

  /// Returns the player on a side.
  package subscript(side: Side) -> Player { side == .left ? left : right }
}
