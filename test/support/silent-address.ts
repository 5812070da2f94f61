import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Listens and accepts nothing: the process stands still after it has told its port. */
const LISTENER = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

/** Linux queues one connection more than the backlog, and drops all further attempts. */
const QUEUED = 2;

/** An address where nobody answers an attempt to connect, as when a machine is gone. */
export interface SilentAddress extends AsyncDisposable {
  /** Address and port. */
  readonly address: string;
}

/** Opens an address on which attempts to connect stay without an answer. */
export async function openSilentAddress(): Promise<SilentAddress> {
  const child = spawn(process.execPath, ['--eval', LISTENER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(text.toString());
  const queued = await Promise.all(Array.from({ length: QUEUED }, () => connectTo(port)));
  return {
    address: `127.0.0.1:${String(port)}`,
    async [Symbol.asyncDispose]() {
      for (const socket of queued) socket.destroy();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function connectTo(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}
