import { describe, expect, test } from '@jest/globals';

import type { Revocation } from '../../proxy/store/revocations.ts';
import { STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const EVERY_KIND: readonly Revocation[] = [
  { kind: 'session', sessionId: 'session-1' },
  { kind: 'browser', sessionId: 'session-1' },
  { kind: 'grant', grantId: 'grant-1' },
  { kind: 'token', tokenId: 'jti-1' },
  { kind: 'internal-token', keyHash: 'hash-of-a-key' },
];

describe.each(STORE_IMPLEMENTATIONS)('revocations in $name', ({ create }) => {
  test('reach this process before publishing resolves', async () => {
    await using under = await create();
    const { revocations } = under.stores;
    const heard: Revocation[] = [];
    revocations.subscribe((revocation) => heard.push(revocation));
    for (const revocation of EVERY_KIND) await revocations.publish(revocation);
    expect(heard).toEqual(EVERY_KIND);
  });

  test('reach every listener', async () => {
    await using under = await create();
    const { revocations } = under.stores;
    let heard = 0;
    const listener = (): void => {
      heard += 1;
    };
    revocations.subscribe(listener);
    revocations.subscribe(listener);
    await revocations.publish({ kind: 'grant', grantId: 'grant-1' });
    expect(heard).toBe(2);
  });

  test('reach the other listeners if one fails', async () => {
    await using under = await create();
    const { revocations } = under.stores;
    const heard: Revocation[] = [];
    revocations.subscribe(() => {
      throw new Error('a bug');
    });
    revocations.subscribe((revocation) => heard.push(revocation));
    await revocations.publish({ kind: 'grant', grantId: 'grant-1' }).catch(() => undefined);
    expect(heard).toHaveLength(1);
  });

  test('do not reach a listener whose subscription ended', async () => {
    await using under = await create();
    const { revocations } = under.stores;
    const heard: Revocation[] = [];
    const unsubscribe = revocations.subscribe((revocation) => heard.push(revocation));
    unsubscribe();
    await revocations.publish({ kind: 'grant', grantId: 'grant-1' });
    expect(heard).toEqual([]);
  });
});
