import NIOCore
import NIOPosix

/// An echo server on 127.0.0.1: `NIOEcho udp|vectored|tcp` prints its port and runs until its
/// standard input ends.
@main
struct NIOEcho {
  static func main() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let channel = try await open(CommandLine.arguments.dropFirst().first ?? "udp", on: group)
    print(channel.localAddress?.port ?? 0)
    fflushAll()
    while readLine() != nil {}
    try await channel.close()
    try await group.shutdownGracefully()
  }

  private static func open(_ kind: String, on group: MultiThreadedEventLoopGroup) async throws
    -> any Channel
  {
    switch kind {
    case "tcp":
      return try await ServerBootstrap(group: group)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(StreamEcho())
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    case "vectored":
      return try await DatagramBootstrap(group: group)
        .channelOption(.datagramVectorReadMessageCount, value: 64)
        .channelOption(
          .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 * 2048)
        )
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(VectoredEcho())
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    default:
      return try await DatagramBootstrap(group: group)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(PlainEcho())
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    }
  }
}

/// Writes and flushes each datagram separately.
final class PlainEcho: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  typealias OutboundOut = AddressedEnvelope<ByteBuffer>

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.writeAndFlush(data, promise: nil)
  }
}

/// Flushes all datagrams of one read together.
final class VectoredEcho: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  typealias OutboundOut = AddressedEnvelope<ByteBuffer>

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.write(data, promise: nil)
  }

  func channelReadComplete(context: ChannelHandlerContext) { context.flush() }
}

/// Writes received bytes back unchanged.
final class StreamEcho: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.write(data, promise: nil)
  }

  func channelReadComplete(context: ChannelHandlerContext) { context.flush() }
}
