/// A priority queue of pending contacts, earliest first. It is a binary heap that keeps its
/// capacity from step to step. CaromPhysics imports nothing, so it does not use the heap of
/// CaromCore.
struct ContactQueue {
  private var heap: [PendingContact] = []

  var first: PendingContact? { heap.first }

  mutating func reserveCapacity(_ capacity: Int) { heap.reserveCapacity(capacity) }

  mutating func removeAll() { heap.removeAll(keepingCapacity: true) }

  mutating func push(_ contact: PendingContact) {
    heap.append(contact)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard PendingContact.comesBefore(contact, heap[parent]) else { break }
      heap[child] = heap[parent]
      child = parent
    }
    heap[child] = contact
  }

  mutating func pop() -> PendingContact? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    let count = heap.count
    guard count > 0 else { return first }
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < count else { break }
      if child + 1 < count, PendingContact.comesBefore(heap[child + 1], heap[child]) { child += 1 }
      guard PendingContact.comesBefore(heap[child], last) else { break }
      heap[parent] = heap[child]
      parent = child
    }
    heap[parent] = last
    return first
  }
}
