/// The state of a simulated computer, which may run several hosts.
struct VirtualMachine: Sendable {
  let interfaces: [VirtualHost.Interface]
  /// Whether the network cable is unplugged.
  var isCut = false
  var isCrashed = false
  /// The index of the machine's part of a partitioned network, or nil if the machine can reach all
  /// parts.
  var part: Int?
  /// The numbers of the open sockets, in ascending order.
  var sockets: [Int] = []
  /// For each port, the numbers of the open sockets bound to it, in ascending order.
  var ports: [UInt16: [Int]] = [:]
  var listeners: [(port: UInt16, host: VirtualHost.ID)] = []
  /// The numbers of all streams that the machine opened or accepted, in chronological order.
  var streams: [Int] = []
  /// The number of times that `rebind` has changed the port of the NAT in front of the machine, and
  /// the number of times that it has changed the NAT's address.
  var rebindings = NATMapping.Epoch()
  private var nextPort: UInt16 = 49_152
  private var nextExternalPort: UInt16 = 20_000

  init(interfaces: [VirtualHost.Interface]) { self.interfaces = interfaces }

  /// Returns an ephemeral port (RFC 6335 §6). The port is free unless all ephemeral ports are in
  /// use.
  mutating func freePort() -> UInt16 {
    for _ in 0..<16_384 {
      let port = nextPort
      nextPort = port == .max ? 49_152 : port + 1
      if ports[port] == nil { return port }
    }
    return nextPort
  }

  /// Returns an external port for a new mapping of the NAT in front of the machine.
  mutating func allocateExternalPort() -> UInt16 {
    for _ in 0..<29_152 {
      let port = nextExternalPort
      nextExternalPort = port == 49_151 ? 20_000 : port + 1
      if ports[port] == nil { return port }
    }
    return nextExternalPort
  }

  mutating func open(_ socket: Int, port: UInt16) {
    sockets.append(socket)
    ports[port, default: []].append(socket)
  }

  mutating func close(_ socket: Int, port: UInt16) {
    sockets.remove(sorted: socket)
    ports[port]?.remove(sorted: socket)
    if ports[port]?.isEmpty == true { ports[port] = nil }
  }
}

extension Array where Element: Comparable {
  /// Returns the index of the first element of a sorted array that is not less than `element`.
  func insertionIndex(of element: Element) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Inserts an element into a sorted array, unless the array contains it.
  mutating func insert(sorted element: Element) {
    let index = insertionIndex(of: element)
    if index == count || self[index] != element { insert(element, at: index) }
  }

  /// Removes an element from a sorted array, if the array contains it.
  mutating func remove(sorted element: Element) {
    let index = insertionIndex(of: element)
    if index < count, self[index] == element { remove(at: index) }
  }
}
