import CWebRuntime
import CaromCore
import Testing

/// The heap of a program in a page, here over a region of this process's memory.
@Suite struct WebHeapTests {
  @Test func `blocks of all sizes and alignments are aligned, do not overlap and keep their bytes`()
  {
    let heap = TestHeap(bytes: 64 << 20)
    var generator = SeededGenerator(seed: 7)
    var blocks: [Block] = []
    for _ in 0..<20_000 {
      if !blocks.isEmpty, Int.random(in: 0..<100, using: &generator) < 48 {
        let index = Int.random(in: 0..<blocks.count, using: &generator)
        let block = blocks.swapAt(removing: index)
        #expect(block.isIntact)
        heap.release(block)
      } else {
        let size = 1 << Int.random(in: 0..<15, using: &generator)
        let block = heap.allocate(
          Int.random(in: 0...size, using: &generator),
          alignment: 1 << Int.random(in: 4...8, using: &generator),
          mark: UInt8.random(in: 0...255, using: &generator))
        blocks.append(block!)
      }
    }
    #expect(blocks.count == heap.count)
    #expect(blocks.allSatisfy { $0.isIntact })
  }

  @Test func `released memory is used again for blocks of the same class`() {
    let heap = TestHeap(bytes: 4 << 20)
    let sizes = [0, 1, 16, 17, 128, 129, 160, 161, 1_000, 4_096, 70_000]
    var used = 0
    for round in 0..<100 {
      let blocks = sizes.map { heap.allocate($0, alignment: 16, mark: 1)! }
      for block in blocks.reversed() { heap.release(block) }
      if round == 0 { used = heap.used }
    }
    #expect(heap.used == used && heap.count == 0)
  }

  @Test func `a block wastes at most a quarter of what was asked for, and its header`() {
    for size in [129, 500, 1_025, 5_000, 66_000, 1_000_000] {
      let heap = TestHeap(bytes: 4 << 20)
      _ = heap.allocate(size, alignment: 16, mark: 0)
      #expect(heap.used <= size + size / 4 + 16)
    }
  }

  @Test func `a block that does not fit is refused, and smaller ones still fit`() {
    let heap = TestHeap(bytes: 1 << 16)
    #expect(heap.allocate(1 << 17, alignment: 16, mark: 0) == nil)
    #expect(heap.allocate(Int.max, alignment: 16, mark: 0) == nil)
    #expect(heap.allocate(1 << 30, alignment: 32, mark: 0) == nil)
    #expect(heap.allocate(1 << 12, alignment: 16, mark: 0) != nil)
    #expect(heap.count == 1)
  }
}

/// A block and the byte that was written to all of it.
@safe private struct Block {
  let memory: UnsafeMutableRawPointer
  let size: Int
  let mark: UInt8

  var isIntact: Bool {
    (0..<size).allSatisfy { unsafe memory.load(fromByteOffset: $0, as: UInt8.self) == mark }
  }
}

extension Array {
  fileprivate mutating func swapAt(removing index: Int) -> Element {
    swapAt(index, count - 1)
    return removeLast()
  }
}

/// A heap whose memory is a region of `bytes` bytes, which becomes available page by page.
@safe private final class TestHeap {
  private let heap: UnsafeMutablePointer<cweb_heap>
  private let region: UnsafeMutableRawPointer

  init(bytes: Int) {
    unsafe region = .allocate(byteCount: bytes, alignment: 4_096)
    unsafe heap = .allocate(capacity: 1)
    unsafe heap.initialize(to: cweb_heap())
    unsafe heap.pointee.next = region.assumingMemoryBound(to: UInt8.self)
    unsafe heap.pointee.end = heap.pointee.next
    unsafe heap.pointee.limit = heap.pointee.next.map { unsafe $0 + bytes }
    unsafe heap.pointee.extend = { heap, bytes in
      guard let end = unsafe heap.pointee.end, let limit = unsafe heap.pointee.limit,
        unsafe limit - end >= bytes
      else { return 0 }
      let pages = (bytes + 4_095) / 4_096 * 4_096
      unsafe heap.pointee.end = end + min(pages, unsafe limit - end)
      return 1
    }
  }

  deinit {
    unsafe region.deallocate()
    unsafe heap.deallocate()
  }

  var count: Int { unsafe heap.pointee.count }
  var used: Int {
    unsafe heap.pointee.next! - region.assumingMemoryBound(to: UInt8.self)
  }

  /// Allocates a block and fills it with `mark`; nil if there is not enough memory.
  func allocate(_ size: Int, alignment: Int, mark: UInt8) -> Block? {
    guard let memory = unsafe cweb_allocate(heap, size, alignment) else { return nil }
    #expect(Int(bitPattern: memory) % alignment == 0)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: mark, count: size)
    return unsafe Block(memory: memory, size: size, mark: mark)
  }

  func release(_ block: Block) { unsafe cweb_release(heap, block.memory) }
}
