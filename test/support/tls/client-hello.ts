import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { connect } from 'node:tls';

/** Returns what a client of OpenSSL begins its handshake with. */
export async function clientHello(servername?: string): Promise<Buffer> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  const client = connect({
    ...{ host: '127.0.0.1', port, rejectUnauthorized: false },
    ...(servername !== undefined && { servername }),
  });
  client.on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  client.destroy();
  server.close();
  return bytes;
}

/** Returns the same for a name that OpenSSL would not send. */
export async function clientHelloWith(servername: string): Promise<Buffer> {
  const placeholder = 'p'.repeat(servername.length);
  const hello = (await clientHello(placeholder)).toString('latin1');
  if (!hello.includes(placeholder)) throw new Error('the name was not sent');
  return Buffer.from(
    hello.replace(placeholder, () => servername),
    'latin1',
  );
}
