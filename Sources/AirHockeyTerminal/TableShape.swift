/// The table's measures in metres, all that a drawing needs of them.
package struct TableShape: Hashable, Sendable {
  /// Half the playing field's length, from goal to goal.
  package var halfLength: Double
  /// Half the playing field's width.
  package var halfWidth: Double
  /// Half a goal mouth's width.
  package var goalHalfWidth: Double
  /// The puck's radius.
  package var puckRadius: Double
  /// A mallet's radius.
  package var malletRadius: Double

  /// A table of these measures.
  package init(
    halfLength: Double, halfWidth: Double, goalHalfWidth: Double, puckRadius: Double,
    malletRadius: Double
  ) {
    self.halfLength = halfLength
    self.halfWidth = halfWidth
    self.goalHalfWidth = goalHalfWidth
    self.puckRadius = puckRadius
    self.malletRadius = malletRadius
  }
}
