import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import {
  NO_OVERLAY,
  sentAsIs,
  type SentSnapshot,
} from '../../../../../controller/push/content/overlay.ts';
import {
  PublishedContent,
  type Delivery,
} from '../../../../../controller/push/content/published-content.ts';
import { snapshotOf } from '../../../../../shared/snapshot/hash-resource.ts';
import type { SnapshotResource } from '../../../../../shared/snapshot/snapshot.ts';
import { pushedRoute } from '../../../../support/push/push-resources.ts';

/** The resources that a proxy has after a delivery. */
function applied(
  before: ReadonlyMap<string, SnapshotResource>,
  { base, put, kept, deleted }: Delivery,
): Map<string, SnapshotResource> {
  const after = new Map(base === undefined ? [] : before);
  for (const { resource } of put) after.set(resource.key, resource);
  for (const key of deleted) after.delete(key);
  for (const [key, hash] of kept) {
    const resource = before.get(key);
    if (resource?.hash !== hash) throw new Error(`${key} is not kept`);
    after.set(key, resource);
  }
  return after;
}

type Change =
  | { readonly kind: 'put'; readonly name: string; readonly generation: number }
  | { readonly kind: 'delete'; readonly name: string }
  | { readonly kind: 'raise' }
  | { readonly kind: 'reject' | 'retry' | 'lose' | 'follow' };

function change(content: PublishedContent, each: Change): void {
  if (each.kind === 'put') {
    content.publish({ put: [pushedRoute(each.name, each.generation)], deleted: [] });
  }
  if (each.kind === 'delete') {
    content.publish({ put: [], deleted: [`route/default/${each.name}`] });
  }
  if (each.kind === 'raise') content.raiseEpoch(content.position.epoch + 1);
}

describe('PublishedContent', () => {
  it('brings a proxy to the newest snapshot by the changes alone, whatever happens in between', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('put' as const),
        name,
        generation: fc.integer({ max: 4, min: 1 }),
      }),
      fc.record({ kind: fc.constant('delete' as const), name }),
      fc.record({ kind: fc.constant('reject' as const), name }),
      fc.record({ kind: fc.constant('retry' as const), name }),
      fc.record({ kind: fc.constant('lose' as const) }),
      fc.record({ kind: fc.constant('follow' as const) }),
      fc.record({ kind: fc.constant('raise' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const content = new PublishedContent(1, () => 0);
        content.publish({ put: [], deleted: [] });
        let resources = applied(new Map(), content.deliveryFrom(undefined, NO_OVERLAY));
        let base: SentSnapshot | undefined = sentAsIs(content.version);
        const overlay = new Map<string, string | undefined>();
        for (const each of [...steps, { kind: 'follow' as const }]) {
          change(content, each);
          if (each.kind === 'lose') base = undefined;
          if (each.kind === 'retry') overlay.delete(`route/default/${each.name}`);
          if (each.kind === 'reject') {
            const key = `route/default/${each.name}`;
            overlay.set(key, resources.get(key)?.hash);
          }
          if (each.kind !== 'follow') continue;
          for (const key of overlay.keys()) {
            if (content.find(key) === undefined) overlay.delete(key);
          }
          const delivery: Delivery = content.deliveryFrom(base, new Map(overlay));
          expect(delivery.sent.version === content.version).toBe(
            [...overlay].every(([key, hash]) => content.find(key)?.resource.hash === hash),
          );
          const unchanged = delivery.put.filter(
            ({ resource }) => resources.get(resource.key)?.hash === resource.hash,
          );
          expect(delivery.base === undefined ? [] : unchanged).toEqual([]);
          resources = applied(resources, delivery);
          base = delivery.sent;
          expect(snapshotOf(resources.values()).version).toBe(base.version);
          for (const [key, hash] of overlay) expect(resources.get(key)?.hash).toBe(hash);
        }
      }),
    );
  });
});
