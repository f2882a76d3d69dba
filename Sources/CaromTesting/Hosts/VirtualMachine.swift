extension VirtualNetwork {
  /// A computer with a cable.
  struct Machine: Sendable {
    let interfaces: [VirtualHost.Interface]
    var isCut = false
    var isCrashed = false
    /// Which part of a partition it is in; `nil` reaches every part.
    var part: Int?
    /// Open sockets, in the order of their numbers.
    var sockets: [Int] = []
    /// The same by port.
    var ports: [UInt16: [Int]] = [:]
    var listeners: [(port: UInt16, host: VirtualHost.ID)] = []
    /// Streams that began or ended here, as they came.
    var streams: [Int] = []
    /// How often its translator changed its source by hand.
    var rebindings = NATMapping.Epoch()
    private var nextPort: UInt16 = 49_152
    private var nextOutsidePort: UInt16 = 20_000

    init(interfaces: [VirtualHost.Interface]) { self.interfaces = interfaces }

    /// A port for who does not care which (RFC 6335 §6), free as long as there is one.
    mutating func freePort() -> UInt16 {
      for _ in 0..<16_384 {
        let port = nextPort
        nextPort = port == .max ? 49_152 : port + 1
        if ports[port] == nil { return port }
      }
      return nextPort
    }

    /// A port that a translator gives one of the machine's.
    mutating func freeOutsidePort() -> UInt16 {
      for _ in 0..<29_152 {
        let port = nextOutsidePort
        nextOutsidePort = port == 49_151 ? 20_000 : port + 1
        if ports[port] == nil { return port }
      }
      return nextOutsidePort
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
}

extension Array where Element: Comparable {
  /// The first place whose element is not less, by halving.
  func place(of element: Element) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(sorted element: Element) {
    let place = place(of: element)
    if place == count || self[place] != element { insert(element, at: place) }
  }

  mutating func remove(sorted element: Element) {
    let place = place(of: element)
    if place < count, self[place] == element { remove(at: place) }
  }
}
