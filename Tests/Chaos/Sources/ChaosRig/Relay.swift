/// Stands between the clients and nghttpx, and passes the frames of HTTP/2 on (RFC 9113 §4.1).
///
/// nghttpx is polite: it waits before it says for good which streams it leaves behind. This one now and then refuses
/// a stream, or says GOAWAY and leaves behind all that comes from then on. What it refuses reaches no server.
///
/// It runs nghttpx, which must have no dynamic table of header fields, or it would miss what a refused request has put
/// there. SIGHUP is for nghttpx.
enum Relay {
    static let program = """
        import asyncio, itertools, os, random, signal, ssl, subprocess, sys

        FOLDER, MANNER, SEED, *PORTS = sys.argv[1:]
        os.chdir(FOLDER)
        DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY = 0, 1, 3, 4, 7
        numbers = itertools.count()

        def frame(kind, stream, *words):
            body = b"".join(word.to_bytes(4, "big") for word in words)
            return len(body).to_bytes(3, "big") + bytes([kind, 0]) + stream.to_bytes(4, "big") + body

        async def read(reader):
            head = await reader.readexactly(9)
            body = await reader.readexactly(int.from_bytes(head[:3], "big"))
            return head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF, head + body

        async def serve(reader, writer):
            try: server_reader, server = await asyncio.open_unix_connection("front.sock")
            except OSError: return writer.transport.abort()
            chance, refused = random.Random("%s-%d" % (SEED, next(numbers))), set()
            last, highest, is_leaving, is_settled, has_table = 1 << 31, 0, False, False, True

            async def up():
                nonlocal last, highest, is_leaving, is_settled, has_table
                server.write(await reader.readexactly(24))
                while True:
                    kind, flags, stream, text = await read(reader)
                    if kind == SETTINGS and flags & 1: is_settled = True
                    if kind == HEADERS and stream > highest and not has_table and not is_leaving:
                        dice = chance.random()
                        if dice < 0.06:
                            refused.add(stream)
                            writer.write(frame(RST_STREAM, stream, 7))
                        elif dice < 0.08:
                            last, is_leaving = highest, True
                            writer.write(frame(GOAWAY, 0, last, 0))
                        elif dice < 0.085 and MANNER == "rough":
                            return writer.transport.abort()
                    if stream in refused or stream > last: continue
                    # The first ones may change the table.
                    if kind == HEADERS: highest, has_table = max(highest, stream), has_table and not is_settled
                    server.write(text)
                    await server.drain()

            async def down():
                nonlocal is_leaving
                while True:
                    kind, _, _, text = await read(server_reader)
                    if kind == GOAWAY and last < 1 << 31: continue
                    is_leaving = is_leaving or kind == GOAWAY
                    writer.write(text)
                    await writer.drain()

            tasks = [asyncio.create_task(up()), asyncio.create_task(down())]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            has_server_left = tasks[1].done()
            for task in tasks: task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            server.close()
            # Whoever closes while something is unread loses what was sent before.
            try: has_server_left and await asyncio.wait_for(reader.read(), 1)
            except (OSError, asyncio.TimeoutError): pass
            writer.close()

        async def main():
            front = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "nghttpx", "--conf=front.conf"])
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, front.send_signal, signal.SIGHUP)
            loop.add_signal_handler(signal.SIGCHLD, os._exit, 1)
            loop.set_exception_handler(lambda loop, context: None)
            while True:
                try: (await asyncio.open_unix_connection("front.sock"))[1].close()
                except OSError: await asyncio.sleep(0.05)
                else: break
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain("server.pem", "server.key")
            tls.set_alpn_protocols(["h2"])
            servers = [await asyncio.start_server(serve, "127.0.0.1", int(port), ssl=tls) for port in PORTS]
            print("ready", flush=True)
            await asyncio.Event().wait()

        asyncio.run(main())
        """
}
