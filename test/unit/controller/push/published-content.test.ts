import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { PublishedContent, type Delivery } from '../../../../controller/push/published-content.ts';
import { snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import type { SnapshotResource } from '../../../../shared/snapshot/snapshot.ts';
import { pushedRoute } from '../../../support/push/push-resources.ts';

const A = 'route/default/a';

/** What a proxy has after a delivery. */
function applied(
  before: ReadonlyMap<string, SnapshotResource>,
  { base, put, deleted }: Delivery,
): Map<string, SnapshotResource> {
  const after = new Map(base === undefined ? [] : before);
  for (const { resource } of put) after.set(resource.key, resource);
  for (const key of deleted) after.delete(key);
  return after;
}

describe('published content', () => {
  it('reaches who follows it now and then, by what changed, whatever happens to it', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('put' as const),
        name,
        generation: fc.integer({ max: 4, min: 1 }),
      }),
      fc.record({ kind: fc.constant('delete' as const), name }),
      fc.record({ kind: fc.constant('refuse' as const), name }),
      fc.record({ kind: fc.constant('leave' as const) }),
      fc.record({ kind: fc.constant('follow' as const) }),
      fc.record({ kind: fc.constant('raise' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, isAcknowledged) => {
        const content = new PublishedContent(1, () => isAcknowledged);
        content.publish([], []);
        let resources = applied(new Map(), content.deliveryFrom(undefined));
        let version = content.version;
        for (const each of [...steps, { kind: 'follow' as const }]) {
          if (each.kind === 'put') content.publish([pushedRoute(each.name, each.generation)], []);
          if (each.kind === 'delete') content.publish([], [`route/default/${each.name}`]);
          if (each.kind === 'leave') content.retryWithout('proxy-0');
          if (each.kind === 'raise') content.raiseEpoch(content.position.epoch + 1);
          if (each.kind === 'refuse') {
            const messages = new Map([[`route/default/${each.name}`, 'no']]);
            const { sequence } = content.position;
            content.withhold({ proxy: 'proxy-0', sequence, messages });
          }
          if (each.kind !== 'follow') continue;
          const delivery = content.deliveryFrom(version);
          const useless = delivery.put.filter(
            ({ resource }) => resources.get(resource.key)?.hash === resource.hash,
          );
          expect(delivery.base === undefined ? [] : useless).toEqual([]);
          resources = applied(resources, delivery);
          version = content.version;
          expect(snapshotOf(resources.values()).version).toBe(version);
        }
      }),
    );
  });

  it('puts back what proxies have acknowledged, rather than what none has', () => {
    const acknowledged = new Set([1]);
    const content = new PublishedContent(1, (sequence) => acknowledged.has(sequence));
    content.publish([pushedRoute('a', 1)], []);
    content.publish([pushedRoute('a', 2)], []);
    content.publish([pushedRoute('a', 3)], []);
    const messages = new Map([[A, 'no']]);
    expect(content.withhold({ proxy: 'proxy-0', sequence: 3, messages })).toBe(1);
    expect(content.find(A)?.published?.resource).toEqual(pushedRoute('a', 1));
  });

  it('is not changed by a refusal of what has changed since', () => {
    const content = new PublishedContent(1, () => true);
    content.publish([pushedRoute('a', 1)], []);
    content.publish([pushedRoute('a', 2)], []);
    const messages = new Map([[A, 'no']]);
    expect(content.withhold({ proxy: 'proxy-0', sequence: 1, messages })).toBe(1);
    expect(content.find(A)?.published?.resource).toEqual(pushedRoute('a', 2));
    expect(content.position.sequence).toBe(2);
  });

  it('knows a refusal by several proxies, and waits for all of them to be gone', () => {
    const content = new PublishedContent(1, () => true);
    content.publish([pushedRoute('a', 1)], []);
    content.publish([pushedRoute('a', 2)], []);
    const messages = new Map([[A, 'no']]);
    content.withhold({ proxy: 'proxy-0', sequence: 2, messages });
    expect(content.withhold({ proxy: 'proxy-1', sequence: 2, messages })).toBe(1);
    expect(content.position.sequence).toBe(3);
    expect(content.retryWithout('proxy-0')).toEqual([]);
    expect(content.find(A)?.published?.resource).toEqual(pushedRoute('a', 1));
    expect(content.retryWithout('proxy-1')).toEqual([A]);
    expect(content.find(A)?.published?.resource).toEqual(pushedRoute('a', 2));
  });

  it('is not changed by a refusal of what it does not have', () => {
    const content = new PublishedContent(1, () => true);
    content.publish([pushedRoute('a', 1)], []);
    for (const key of ['', 'route/default/b']) {
      const messages = new Map([[key, 'no']]);
      expect(content.withhold({ proxy: 'proxy-0', sequence: 1, messages })).toBe(0);
    }
    expect(content.position.sequence).toBe(1);
  });
});
