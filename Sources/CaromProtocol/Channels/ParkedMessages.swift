import CaromCore

/// Messages of one channel that the owner does not take now, in the order in which they came.
struct ParkedMessages: Sendable {
  let channel: UInt8
  var messages = Deque<ReadyQueue.Message>()
}
