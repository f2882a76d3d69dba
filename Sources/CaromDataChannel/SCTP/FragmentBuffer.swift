import CaromCore

/// Puts together messages that arrive in several chunks of data with consecutive TSNs
/// (RFC 9260 §6.9). Pages send messages that need no fragments, so this is small and not fast.
struct FragmentBuffer: Sendable {
  /// The maximum number of fragments that wait for others; the earliest one makes room for more.
  static let limit = 8

  struct Fragment: Sendable {
    var tsn: TSN
    var isFirst: Bool
    var isLast: Bool
    /// The stream and the payload protocol, which all fragments of a message have in common.
    var kind: SCTPData.Kind
    var bytes: [UInt8]
  }

  private var fragments: [Fragment] = []

  /// Adds a fragment and returns the message that it completes, if it does.
  mutating func insert(_ data: SCTPData, _ payload: Span<UInt8>) -> [UInt8]? {
    guard payload.count <= SCTPAssociation.maximumMessageLength else { return nil }
    if fragments.count == Self.limit { removeEarliest() }
    fragments.append(
      Fragment(
        tsn: data.tsn, isFirst: data.isFirst, isLast: data.isLast, kind: data.kind,
        bytes: Array(copying: payload)))
    return takeMessage(around: data.tsn)
  }

  /// Removes the fragments up to `tsn`, the rest of which the peer has abandoned.
  mutating func removeAll(through tsn: TSN) {
    if !fragments.isEmpty { fragments.removeAll { !tsn.precedes($0.tsn) } }
  }

  private func index(of tsn: TSN) -> Int? { fragments.firstIndex { $0.tsn == tsn } }

  private mutating func removeEarliest() {
    let earliest = fragments.indices.min { fragments[$0].tsn.precedes(fragments[$1].tsn) }
    if let earliest { fragments.remove(at: earliest) }
  }

  private mutating func takeMessage(around tsn: TSN) -> [UInt8]? {
    var first = tsn
    while let index = index(of: first), !fragments[index].isFirst {
      first = first.advanced(by: -1)
    }
    guard let start = index(of: first) else { return nil }
    let kind = fragments[start].kind
    var message: [UInt8] = []
    var last = first
    while let index = index(of: last) {
      guard fragments[index].kind == kind, last == first || !fragments[index].isFirst else {
        return nil
      }
      message += fragments[index].bytes
      if fragments[index].isLast { break }
      last = last.advanced(by: 1)
    }
    guard index(of: last) != nil else { return nil }
    fragments.removeAll { !$0.tsn.precedes(first) && !last.precedes($0.tsn) }
    return message.count <= SCTPAssociation.maximumMessageLength ? message : nil
  }
}
