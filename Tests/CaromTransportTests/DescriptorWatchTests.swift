import CaromCore
import Foundation
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct DescriptorWatchTests {
  @Test func `a watch calls back when bytes arrive and when the writer is closed`() async throws {
    try await onLoop { loop in
      let pipe = Pipe()
      let reads = Events<Data>()
      let reader = pipe.fileHandleForReading
      var watch: DescriptorWatch?
      watch = try DescriptorWatch(on: loop, descriptor: reader.fileDescriptor) {
        let data = reader.availableData
        if data.isEmpty { watch?.stop() }
        reads.add(data)
      }
      for text in ["one", "two"] {
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        #expect(await reads.next() == Data(text.utf8))
      }
      try pipe.fileHandleForWriting.close()
      #expect(await reads.next() == Data())
    }
  }

  @Test func `a stopped watch does not call back`() async throws {
    try await onLoop { loop in
      let (first, second) = (Pipe(), Pipe())
      let calls = Events<String>()
      let silent = try DescriptorWatch(
        on: loop, descriptor: first.fileHandleForReading.fileDescriptor
      ) { calls.add("silent") }
      silent.stop()
      let reader = second.fileHandleForReading
      let watch = try DescriptorWatch(on: loop, descriptor: reader.fileDescriptor) {
        calls.add(String(decoding: reader.availableData, as: UTF8.self))
      }
      for pipe in [first, second] { try pipe.fileHandleForWriting.write(contentsOf: Data([0x78])) }
      #expect(await calls.next() == "x")
      #expect(calls.count == 0)
      watch.stop()
    }
  }

  @Test(arguments: [0, O_NONBLOCK])
  func `a watch leaves the flags of the descriptor as they are`(flag: Int32) async throws {
    try await onLoop { loop in
      let pipe = Pipe()
      let reader = pipe.fileHandleForReading.fileDescriptor
      let flags = fcntl(reader, F_GETFL) | flag
      try #require(fcntl(reader, F_SETFL, flags) == 0)
      let watch = try DescriptorWatch(on: loop, descriptor: reader) {}
      #expect(fcntl(reader, F_GETFL) == flags)
      watch.stop()
    }
  }

  @Test func `a closed descriptor is an error`() async throws {
    try await onLoop { loop in
      #expect(throws: TransportError.self) {
        try DescriptorWatch(on: loop, descriptor: -1) {}
      }
    }
  }
}
