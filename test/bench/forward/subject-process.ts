import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** First message of a measured process to its parent, once it listens. */
export interface Ready {
  readonly port: number;
  /** Bearer tokens it accepts. */
  readonly tokens: readonly string[];
}

/** Listens, reports that to the parent process, and reports CPU use whenever the parent asks. */
export async function serveParent(server: Server, tokens: readonly string[] = []): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  reportReady((server.address() as AddressInfo).port, tokens);
}

/** Reports a port to the parent process, and CPU use (microseconds) whenever the parent asks. */
export function reportReady(port: number, tokens: readonly string[]): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  // A run that fails leaves nothing behind.
  process.once('disconnect', () => process.exit());
  process.send?.({ port, tokens } satisfies Ready);
}

/** Discards log lines; a container writes them to a pipe or file without waiting. */
export const discard = { write: (): boolean => true };
