import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';

import type { WantedPort } from './demo-flags.ts';

/** A running server of the demo. */
export interface LoopbackServer {
  /** `http://localhost:PORT`. */
  readonly origin: string;
  /** Closes it and all open connections at once. */
  close(): Promise<void>;
}

/** For servers whose address nobody types. */
export const ANY_PORT: WantedPort = { port: 0, flag: '', environment: '' };

/** Thrown if a port of the demo is in use. The message names what changes the port. */
export class PortInUseError extends Error {
  override readonly name = 'PortInUseError';

  constructor({ port, flag, environment }: WantedPort, options?: ErrorOptions) {
    super(
      `port ${String(port)} is in use by another program; ` +
        `choose a different one with ${flag} PORT or ${environment}=PORT`,
      options,
    );
  }
}

/**
 * Listens on loopback, on any free port when `port` is 0.
 *
 * The handler is created with the origin, which OAuth needs before the first request.
 */
export async function startLoopbackServer(
  option: WantedPort,
  handlerFor: (origin: string) => RequestListener | Promise<RequestListener>,
): Promise<LoopbackServer> {
  const port = await availablePort(option);
  const origin = `http://localhost:${String(port)}`;
  const server = createServer(await handlerFor(origin));
  await listen(server, { ...option, port }, '127.0.0.1');
  return { origin, close: () => close(server) };
}

/** Returns the port, or a free one for 0. Throws `PortInUseError` if the port is in use. */
export async function availablePort(option: WantedPort): Promise<number> {
  const probe = createServer();
  await listen(probe, option, '127.0.0.1');
  const address = probe.address();
  await close(probe);
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  await refuseOtherLocalhost({ ...option, port: address.port });
  return address.port;
}

/** Throws if ::1 is in use: `localhost` resolves to it first, so it would get the requests. */
async function refuseOtherLocalhost(option: WantedPort): Promise<void> {
  const probe = createServer();
  try {
    await listen(probe, option, '::1');
  } catch (error) {
    if (error instanceof PortInUseError) throw error;
    // This machine has no IPv6, so nobody listens there.
    return;
  }
  await close(probe);
}

async function listen(server: Server, option: WantedPort, host: string): Promise<void> {
  server.listen(option.port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const isInUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    throw isInUse ? new PortInUseError(option, { cause: error }) : error;
  }
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
