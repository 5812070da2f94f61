import type { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { RedisSnapshotKeeper } from '../../proxy/store/redis/stores/redis-snapshot-keeper.ts';
import type { PlacedSnapshot } from '../../proxy/store/snapshot/snapshot-keeper.ts';
import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import { AN_IDENTITY_PROVIDER } from '../support/compiled-resources.ts';
import { compiledSettings } from '../support/compiled-settings.ts';
import { aFullRoute, resourcesOf, SOME_SIGNING_KEYS } from '../support/push/some-resources.ts';
import { sealerWith } from './redis-stores-under-test.ts';

/** Gateway of the snapshots. */
export const ID = 'gatehouse-system/gatehouse';

/** A snapshot whose resources show its position. */
export function placed(epoch: number, sequence: number): PlacedSnapshot {
  const name = `team/route-${String(epoch)}-${String(sequence)}`;
  return {
    position: { epoch, sequence },
    snapshot: snapshotOf(
      resourcesOf(compiledSettings(), SOME_SIGNING_KEYS, AN_IDENTITY_PROVIDER, aFullRoute(name)),
    ),
  };
}

/** Positions of snapshots; undefined for those that are absent. */
export function positions(all: readonly (PlacedSnapshot | undefined)[]): readonly unknown[] {
  return all.map((each) => each?.position);
}

/** A keeper in Redis. */
export function keeperOn(
  connection: RedisConnection,
  sealer = sealerWith('a'),
  id = ID,
): RedisSnapshotKeeper {
  return new RedisSnapshotKeeper(connection, { id, sealer });
}

/** Replaces one character of a text by a different one. */
export function flipped(text: string, index: number): string {
  const other = text.charAt(index) === 'A' ? 'B' : 'A';
  return text.slice(0, index) + other + text.slice(index + 1);
}
