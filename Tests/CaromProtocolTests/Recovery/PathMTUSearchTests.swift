import Testing

@testable import CaromProtocol

/// The order and the times of path MTU probes, and black holes (RFC 8899).
@Suite struct PathMTUSearchTests {
  private static let second: Int64 = 1_000_000_000
  private static let raise = 600 * second

  /// Loses probes at `now` until none is due, and returns their lengths.
  private func loseProbes(_ search: inout PathMTUSearch, at now: Int64) -> [Int] {
    var lengths: [Int] = []
    while let length = search.probe(at: now) {
      lengths.append(length)
      search.recordProbeSent()
      search.recordProbeLost(at: now)
    }
    return lengths
  }

  /// A search that has found that the path carries `size` bytes.
  private func found(_ size: Int = 1_472, maximum: Int = 1_472, at now: Int64 = 0) -> PathMTUSearch
  {
    var search = PathMTUSearch(maximum: maximum, at: now)
    search.recordProbeSent()
    search.recordProbeAcknowledged(size, at: now)
    return search
  }

  /// Loses `count` packets, sent at `sent`. Returns whether the last loss indicates a black hole.
  private func lose(
    _ count: Int, bytes: Int = 1_472, sent: Int64 = 1_000, in search: inout PathMTUSearch
  ) -> Bool {
    var isBlackHole = false
    for _ in 0..<count {
      isBlackHole = search.recordLost(bytes, sent: sent, patience: 100, at: 5_000)
    }
    return isBlackHole
  }

  private func repeated(_ lengths: [Int]) -> [Int] {
    lengths.flatMap { Array(repeating: $0, count: 4) }
  }

  /// RFC 8899, section 5.1.2: a length is too long once several probes of it were lost.
  @Test func `the maximum is tried first, then what fits inside common tunnels, four times each`() {
    let tunnels = [1_464, 1_444, 1_424, 1_392, 1_352, 1_312, 1_252, 1_232]
    let rows: [(Int, [Int])] = [
      (1_472, [1_472] + tunnels), (1_452, [1_452] + tunnels.dropFirst()),
      (8_972, [8_972] + tunnels), (1_240, [1_240, 1_232]), (1_201, [1_201]), (1_200, []), (500, []),
    ]
    for (maximum, lengths) in rows {
      var search = PathMTUSearch(maximum: maximum, at: 0)
      #expect(loseProbes(&search, at: 0) == repeated(lengths))
      #expect(search.size == min(maximum, 1_200))
    }
  }

  @Test func `a length and what is added to it on the way fit together into a tunnel`() {
    let lengths = [1_440, 1_432, 1_412, 1_392, 1_360, 1_320, 1_280, 1_220]
    var search = PathMTUSearch(maximum: 1_440, overhead: 32, at: 0)
    #expect(loseProbes(&search, at: 0) == repeated(lengths))
    var smaller = PathMTUSearch(maximum: 1_420, overhead: 32, at: 0)
    #expect(loseProbes(&smaller, at: 0) == repeated([1_420] + lengths.dropFirst(2)))
  }

  @Test func `probes begin with the path, one at a time`() {
    var search = PathMTUSearch(maximum: 1_472, at: 50)
    #expect(search.probe(at: 49) == nil && search.probe(at: 50) == 1_472)
    search.recordProbeSent()
    #expect(search.probe(at: Self.raise) == nil)
    search.recordProbeLost(at: 70)
    #expect(search.probe(at: 69) == nil && search.probe(at: 70) == 1_472)
  }

  @Test func `a search without result is repeated after 10 minutes`() {
    var search = PathMTUSearch(maximum: 1_472, at: 0)
    _ = loseProbes(&search, at: 5)
    #expect(search.probe(at: 4 + Self.raise) == nil && search.probe(at: 5 + Self.raise) == 1_472)
  }

  @Test func `longer lengths than the one that was found are tried after 10 minutes`() {
    var search = found(1_392, at: 5)
    #expect(search.size == 1_392)
    #expect(search.probe(at: 4 + Self.raise) == nil && search.probe(at: 5 + Self.raise) == 1_472)
    let lengths = loseProbes(&search, at: 5 + Self.raise)
    #expect(lengths == repeated([1_472, 1_464, 1_444, 1_424]) && search.size == 1_392)
    #expect(search.probe(at: 4 + 2 * Self.raise) == nil)
    #expect(search.probe(at: 5 + 2 * Self.raise) == 1_472)
  }

  @Test func `no probe follows once the maximum was found`() {
    var search = found()
    #expect(search.size == 1_472 && search.probe(at: 1_000 * Self.raise) == nil)
    search.recordProbeAcknowledged(1_392, at: 0)
    #expect(search.size == 1_472, "a late acknowledgement of a shorter probe")
  }

  @Test func `lost probes are counted again from zero after a probe arrived`() {
    var search = PathMTUSearch(maximum: 1_472, at: 0)
    for _ in 0..<3 {
      search.recordProbeSent()
      search.recordProbeLost(at: 0)
    }
    search.recordProbeSent()
    search.recordProbeAcknowledged(1_444, at: 0)
    #expect(loseProbes(&search, at: Self.raise) == repeated([1_472, 1_464]))
  }

  // MARK: Black holes

  @Test func `six lost packets in a row that are longer than 1,200 bytes indicate a black hole`() {
    var search = found()
    // Every path carries 1,200 bytes. Once the size is that, no loss indicates anything.
    let rows: [(Int, Int, Bool)] = [
      (5, 1_472, false), (20, 1_200, false), (1, 1_201, true), (6, 1_472, false),
    ]
    for (count, bytes, isBlackHole) in rows {
      let result = lose(count, bytes: bytes, in: &search)
      #expect(result == isBlackHole)
    }
    #expect(search.size == 1_200)
  }

  @Test func `a longer packet that arrives proves that the path carries it`() {
    for (bytes, isBlackHole) in [(1_200, true), (1_201, false)] {
      var search = found()
      _ = lose(5, in: &search)
      search.recordAcknowledged(bytes, sent: 0)
      #expect(lose(1, in: &search) == isBlackHole)
    }
    var search = found()
    _ = lose(5, in: &search)
    search.recordProbeAcknowledged(1_472, at: 0)
    let results = [lose(5, in: &search), lose(1, in: &search)]
    #expect(results == [false, true])
  }

  @Test func `losses soon after a packet that arrived indicate no black hole`() {
    for (sent, isBlackHole) in [(900, false), (901, true)] as [(Int64, Bool)] {
      var search = found()
      search.recordAcknowledged(1_300, sent: 800)
      search.recordAcknowledged(1_300, sent: 700)
      #expect(lose(6, sent: sent, in: &search) == isBlackHole)
    }
    var search = found(at: 950)
    let results = [(10, 1_050), (1, 1_051)].map { lose($0, sent: $1, in: &search) }
    #expect(results == [false, true])
  }

  @Test func `each black hole doubles the time to the next search, from 5 s to 10 minutes`() {
    var search = found()
    for delay in [5, 10, 20, 40, 80, 160, 320, 600, 600] as [Int64] {
      search.fallBack(at: 3)
      #expect(search.size == 1_200)
      search.fallBack(at: Self.second)
      let due = 3 + delay * Self.second
      #expect(search.probe(at: due - 1) == nil && search.probe(at: due) == 1_472)
      search.recordProbeSent()
      search.recordProbeAcknowledged(1_472, at: 0)
    }
  }

  @Test func `the probes that were lost before a black hole do not count after it`() {
    var search = found(1_392)
    for _ in 0..<3 {
      search.recordProbeSent()
      search.recordProbeLost(at: 0)
    }
    search.fallBack(at: 0)
    let lengths = loseProbes(&search, at: Self.raise)
    #expect(lengths.starts(with: repeated([1_472, 1_464])))
  }
}
