/// A value for each of the two seats.
package struct SeatValues<Value> {
  /// The value of the seat that defends the goal at -x.
  package var home: Value
  /// The value of the seat that defends the goal at +x.
  package var away: Value

  /// Creates the values of the two seats.
  package init(_ home: Value, _ away: Value) {
    self.home = home
    self.away = away
  }

  /// The value of a seat.
  package subscript(seat: Seat) -> Value {
    get { seat == .home ? home : away }
    set { if seat == .home { home = newValue } else { away = newValue } }
  }
}

extension SeatValues: Sendable where Value: Sendable {}
extension SeatValues: Equatable where Value: Equatable {}
