import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** First message of a program of a benchmark to its parent, once it listens. */
export interface Ready {
  readonly port: number;
  /** Credentials that it accepts. */
  readonly tokens: readonly string[];
  /** Absent if it has no admin port. */
  readonly adminPort?: number;
}

/** Listens, and reports that to the parent process. */
export async function serveParent(server: Server, tokens: readonly string[] = []): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  reportReady({ port: (server.address() as AddressInfo).port, tokens });
}

/** Reports to the parent process that this one listens. This process ends with its parent. */
export function reportReady(ready: Ready): void {
  // A run that fails leaves nothing behind.
  process.once('disconnect', () => process.exit());
  process.send?.(ready);
}

/** Discards log lines. */
export const discard = { write: (): boolean => true };
