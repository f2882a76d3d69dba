import CaromPhysics

/// What a face shows of a moment of the game. Positions are in metres from the table's middle,
/// x to the right and y upwards, already turned so that the player who looks on sits at the left.
package struct TableView: Hashable, Sendable {
  /// An end of the table.
  package enum Side: Hashable, Sendable, CaseIterable { case left, right }

  /// One player's part of it.
  package struct Player: Hashable, Sendable {
    /// The display name, as it came from wherever it came.
    package var name: String
    /// Goals so far.
    package var score: Int
    /// The mallet's middle.
    package var mallet: Vector

    /// A player with this name, score and mallet.
    package init(name: String, score: Int, mallet: Vector) {
      self.name = name
      self.score = score
      self.mallet = mallet
    }
  }

  /// Large words over the table.
  package struct Banner: Hashable, Sendable {
    /// A word or two.
    package var title: String
    /// A line below it; may be empty.
    package var detail: String
    /// Whose colour it takes; `nil` for neither's.
    package var side: Side?

    /// A banner of these words.
    package init(_ title: String, detail: String = "", side: Side? = nil) {
      self.title = title
      self.detail = detail
      self.side = side
    }
  }

  /// Who sits at the left.
  package var left: Player
  /// Who sits at the right.
  package var right: Player
  /// The puck's middle; `nil` while there is none on the table.
  package var puck: Vector?
  /// Where the puck was on the last frames, the newest first.
  package var trail: [Vector] = []
  /// Who scored just now, and how much of the flash is left, 1 to 0.
  package var flash: (side: Side, strength: Double)? {
    get { flashSide.map { ($0, flashStrength) } }
    set {
      flashSide = newValue?.side
      flashStrength = newValue?.strength ?? 0
    }
  }
  /// Words over the table, if any.
  package var banner: Banner?
  /// The last line's left part: figures.
  package var status = ""
  /// The last line's right part: what the keys do.
  package var hint = ""

  private var flashSide: Side?
  private var flashStrength = 0.0

  /// A table with these players and, perhaps, a puck.
  package init(left: Player, right: Player, puck: Vector?) {
    self.left = left
    self.right = right
    self.puck = puck
  }

  /// The player on a side.
  package subscript(side: Side) -> Player { side == .left ? left : right }
}
