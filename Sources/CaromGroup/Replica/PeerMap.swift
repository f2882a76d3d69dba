import CaromCore

/// Values by peer, in the order of the peers' ids.
struct PeerMap<Value: Sendable>: Sendable {
  private(set) var ids: [PeerID] = []
  private var values: [PeerID: Value] = [:]

  var count: Int { ids.count }
  var isEmpty: Bool { ids.isEmpty }

  subscript(id: PeerID) -> Value? {
    get { values[id] }
    _modify {
      let existed = values[id] != nil
      defer {
        if existed != (values[id] != nil) { existed ? removeID(id) : insertID(id) }
      }
      yield &values[id]
    }
  }

  mutating func removeAll() { self = PeerMap() }

  private mutating func insertID(_ id: PeerID) { ids.insert(id, at: position(of: id)) }
  private mutating func removeID(_ id: PeerID) { ids.remove(at: position(of: id)) }

  private func position(of id: PeerID) -> Int {
    var range = 0..<ids.count
    while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
      range = ids[middle] < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
