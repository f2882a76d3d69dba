/// Elements that one loop has for an inbox, collected so that the loop locks the inbox once for all
/// of them. Other loops and the reader use the inbox too, and a lock for each message would pass
/// the inbox back and forth between their cores.
///
/// Not `Sendable`: a batch belongs to one loop.
final class InboxBatch<Element: Sendable> {
  /// The number of elements at which the batch moves them to the inbox without a call to `flush`.
  /// If the reader falls behind, the inbox exceeds its limit by no more than this number for each
  /// loop.
  static var limit: Int { 64 }
  /// The number of bytes at which the batch moves its elements to the inbox without a call to
  /// `flush`.
  static var byteLimit: Int { 16 << 10 }

  private let inbox: Inbox<Element>
  private var entries: [Inbox<Element>.Entry] = []
  private var bytes = 0

  init(for inbox: Inbox<Element>) { self.inbox = inbox }

  /// Adds an element that counts as `bytes` bytes. Returns false if the sender must pause.
  func append(_ element: Element, bytes: Int) -> Bool {
    entries.append(Inbox.Entry(element: element, bytes: bytes))
    self.bytes += bytes
    return entries.count < Self.limit && self.bytes < Self.byteLimit || flush()
  }

  /// Moves the elements to the inbox. Returns false if the sender must pause.
  func flush() -> Bool {
    guard !entries.isEmpty else { return true }
    defer {
      entries.removeAll(keepingCapacity: true)
      bytes = 0
    }
    return inbox.push(contentsOf: entries)
  }
}
