import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a measured process tells its parent once it listens. */
export interface Ready {
  readonly port: number;
  /** Bearer tokens it accepts. */
  readonly tokens: readonly string[];
}

/** Listens, says so to the parent process, and reports CPU use whenever the parent asks. */
export async function serveParent(server: Server, tokens: readonly string[] = []): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is one.
  reportReady((server.address() as AddressInfo).port, tokens);
}

/** Says that a port is served, and reports CPU use (microseconds) whenever the parent asks. */
export function reportReady(port: number, tokens: readonly string[]): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.send?.({ port, tokens } satisfies Ready);
}

/** Sends log lines where a container's would go: to a pipe or file that nobody waits for. */
export const discard = { write: (): boolean => true };
