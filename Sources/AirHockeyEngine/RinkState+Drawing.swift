import AirHockey
import CaromPhysics

extension RinkState {
  /// The distance in meters above which something was placed rather than moved: more than the puck
  /// covers in a tick.
  private static let jump = 0.3

  /// Returns this state as it is drawn `fraction` of a tick after it was reached: the puck and the
  /// mallets lie between where they were before the tick, in `previous`, and where they are now.
  /// A display that is not in step with the ticks then shows even motion. The mallets of the
  /// seats in `people` are drawn where they are now, because the people at this page would notice
  /// the delay.
  func drawn(from previous: RinkState, _ fraction: Double, people: [Seat]) -> RinkState {
    var drawn = self
    drawn.puck.position = Self.between(previous.puck.position, puck.position, fraction)
    for seat in Seat.allCases where !people.contains(seat) {
      drawn[mallet: seat] = Self.between(previous[mallet: seat], self[mallet: seat], fraction)
    }
    return drawn
  }

  private static func between(
    _ old: LatticePoint, _ new: LatticePoint, _ fraction: Double
  ) -> LatticePoint {
    let step = new.vector - old.vector
    guard step.length < jump else { return new }
    return LatticePoint(old.vector + step * fraction)
  }
}
