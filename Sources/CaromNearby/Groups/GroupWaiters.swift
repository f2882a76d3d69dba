/// The tasks that wait until their events are applied, or until there is room for more events.
struct GroupWaiters {
  typealias Waiter = CheckedContinuation<Void, Never>

  private var applied: [Int: (event: UInt64, waiter: Waiter)] = [:]
  private var room: [Int: Waiter] = [:]
  private var last = 0

  /// A number for the next waiter, by which it can be cancelled.
  mutating func nextNumber() -> Int {
    last += 1
    return last
  }

  mutating func waitForRoom(_ number: Int, _ waiter: Waiter) { room[number] = waiter }

  mutating func wait(for event: UInt64, _ number: Int, _ waiter: Waiter) {
    applied[number] = (event, waiter)
  }

  mutating func cancel(_ number: Int) {
    room.removeValue(forKey: number)?.resume()
    applied.removeValue(forKey: number)?.waiter.resume()
  }

  /// Resumes the tasks whose events are among the first `count` ones of this side, in their order.
  mutating func resumeApplied(upTo count: UInt64) {
    let due = applied.filter { $0.value.event <= count }
    for number in due.keys.sorted() { applied.removeValue(forKey: number)?.waiter.resume() }
  }

  /// Resumes the tasks that wait for room, in their order.
  mutating func resumeRoom() {
    let all = room
    room = [:]
    for number in all.keys.sorted() { all[number]?.resume() }
  }

  mutating func resumeAll() {
    resumeRoom()
    resumeApplied(upTo: .max)
  }
}
