import { setTimeout as wait } from 'node:timers/promises';

import type { LiveSession } from './live-session.ts';
import { requestsFor, type TrafficSource } from './traffic.ts';

/** Path that `helloAfter` answers late. */
const SLOW_PATH = '/slow';
const SLOW_MS = 3000;
const LONGEST_PAUSE_MS = 12_000;
const BUSY_CLIENTS = 3;
const PAUSING_CLIENTS = 4;
const BODY = Buffer.alloc(100_000, 'a');

interface OrdinaryClientsOptions {
  /** A public route, to a server that answers `helloAfter`. */
  readonly url: string;
  /** Makes a `fetch` with connections of its own, which are kept or not. */
  readonly newFetch: (options: { readonly keep: boolean }) => typeof fetch;
  readonly sessions: readonly LiveSession[];
}

/** Returns how long a server should take to answer a request for this path. */
export function helloAfter(path: string | undefined): number {
  return path === SLOW_PATH ? SLOW_MS : 0;
}

/**
 * The clients of a gateway in service: busy ones that keep their connection, some that pause for up to 12 seconds on a kept
 * connection, one that connects for each request, one whose requests take 3 seconds, one that uploads, and one for each
 * session, which calls a tool.
 */
export function ordinaryClients(options: OrdinaryClientsOptions): readonly TrafficSource[] {
  const { url, newFetch, sessions } = options;
  const client = (name: string, path = '', init: RequestInit = {}): TrafficSource =>
    requestsFor(name, `${url}${path}`, newFetch({ keep: true }), init);
  return [
    ...numbered(BUSY_CLIENTS).map((index) => client(`busy client ${index}`)),
    ...numbered(PAUSING_CLIENTS).map((index) => pausing(client(`pausing client ${index}`))),
    requestsFor('client without keep-alive', url, newFetch({ keep: false })),
    client('slow requests', SLOW_PATH),
    client('uploads', '', { method: 'POST', body: BODY }),
    ...sessions.map((session) => ({
      name: `tool calls of session ${session.id}`,
      send: () => session.callTool(),
    })),
  ];
}

function pausing({ name, send }: TrafficSource): TrafficSource {
  return {
    name,
    send: async () => {
      await wait(Math.random() * LONGEST_PAUSE_MS);
      await send();
    },
  };
}

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1));
}
