import { LastGoodFinder } from '../../../proxy/push/last-good/last-good-finder.ts';
import { LastGood, type LastGoodPlaces } from '../../../proxy/push/last-good/last-good.ts';
import { PushClient, type PushClientOptions } from '../../../proxy/push/push-client.ts';
import { UpstreamAuthJournal } from '../../../proxy/push/upstream-auth-journal.ts';
import type { PlacedSnapshot } from '../../../proxy/store/snapshot/snapshot-keeper.ts';
import type { RejectedResource } from '../../../shared/snapshot/rejected-resource.ts';
import { eventually } from '../eventually.ts';
import { createRecordingLogger } from '../redis/recording-logger.ts';
import { TemporaryDirectory } from '../temporary-directory.ts';
import type { PushWorld } from './push-world.ts';

/** The push client of a proxy, and the snapshots that it applied from the start. */
export interface ConnectedPushClient extends AsyncDisposable {
  readonly client: PushClient;
  readonly applied: readonly PlacedSnapshot[];
}

/** Options of a push client. */
export interface ConnectedPushClientOptions {
  readonly token?: string;
  readonly port?: number;
  readonly places?: LastGoodPlaces;
  readonly clock?: PushClientOptions['clock'];
  readonly upstreamAuth?: UpstreamAuthJournal;
  /** Returns the resources of a snapshot that the gateway rejects. */
  readonly check?: (placed: PlacedSnapshot) => readonly RejectedResource[];
}

/** Starts a push client as a process does: with the last good snapshot first, then with the controller's. */
export async function connectPushClient(
  world: PushWorld,
  id: string,
  {
    token = `token-of-${id}`,
    port = world.port,
    places = {},
    ...options
  }: ConnectedPushClientOptions = {},
): Promise<ConnectedPushClient> {
  const directory = await TemporaryDirectory.create();
  const ca = await directory.write('ca.crt', world.authority.ca);
  const tokenFile = await directory.write('token', token);
  const logger = createRecordingLogger();
  const applied: PlacedSnapshot[] = [];
  await new LastGoodFinder(places, { serve: (found) => applied.push(found) > 0, logger }).search();
  const lastGood = new LastGood(places, { logger });
  const client = new PushClient({
    url: `https://127.0.0.1:${String(port)}`,
    ca,
    tokenFile,
    proxyId: id,
    serving: applied[0],
    logger,
    ...(options.clock && { clock: options.clock }),
    upstreamAuth: options.upstreamAuth ?? new UpstreamAuthJournal(),
    handlers: {
      apply: (placed) => {
        const rejected = options.check?.(placed) ?? [];
        if (rejected.length > 0) return rejected;
        applied.push(placed);
        lastGood.save(placed);
        return [];
      },
      status: () => ({ ready: applied.length > 0, draining: false, conns: 0 }),
    },
  });
  return {
    client,
    applied,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await lastGood[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** Keys of the resources that a proxy serves. */
export function keysOf({ client }: ConnectedPushClient): readonly string[] {
  return [...(client.serving?.snapshot.resources.keys() ?? [])].sort();
}

/** Waits until a proxy serves the snapshot of a version. */
export async function untilServing(proxy: ConnectedPushClient, version: string): Promise<void> {
  const isServing = (): boolean => proxy.client.serving?.snapshot.version === version;
  await eventually('the proxy serves the snapshot', isServing);
}
