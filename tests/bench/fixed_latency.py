"""A Messages API that answers every request after a fixed time, in a process of its own."""

import asyncio
import json
import sys

MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
    "content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn",
    "usage": {"input_tokens": 100, "output_tokens": 20},
}  # fmt: skip
BODY = json.dumps(MESSAGE).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
    len(BODY),
    BODY,
)


async def serve(latency: float) -> None:
    """Print the port, then answer until killed."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = head.split(b"content-length:")[1].split(b"\r\n")[0]
                await reader.readexactly(int(length))
                await asyncio.sleep(latency)
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
