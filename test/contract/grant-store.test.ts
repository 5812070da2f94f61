import { describe, expect, test } from '@jest/globals';

import type { Grant } from '../../proxy/records/grant.ts';
import { MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const DAY = 86_400;
const USED_AT = Date.UTC(2026, 0, 2);

const GRANT: Grant = {
  id: 'grant-1',
  issuer: 'https://mcp.example.com',
  clientId: 'client-1',
  signInId: 'sign-in-1',
  resource: 'https://mcp.example.com/',
  scopes: ['offline_access', 'mcp'],
  clientName: 'Inspector',
  redirectUri: 'http://127.0.0.1/callback',
  usedAt: Date.UTC(2026, 0, 1),
};

describe.each(STORE_IMPLEMENTATIONS)('grant store in $name', ({ create }) => {
  test('returns a grant as it was made, its scopes in order', async () => {
    await using under = await create();
    await under.stores.grants.create(GRANT, DAY);
    expect(await under.stores.grants.get('grant-1')).toEqual(GRANT);
    expect(await under.stores.grants.get('grant-2')).toBeNull();
  });

  test('accepts a grant again if its redemption failed and is repeated', async () => {
    await using under = await create();
    const { grants } = under.stores;
    await grants.create(GRANT, DAY);
    await under.advance(MOMENT_SECONDS);
    await grants.create(GRANT, DAY);
    await under.advance(DAY - MOMENT_SECONDS);
    expect(await grants.get('grant-1')).toEqual(GRANT);
    await under.advance(MOMENT_SECONDS);
    expect(await grants.get('grant-1')).toBeNull();
  });

  test('forgets a grant when it expires', async () => {
    await using under = await create();
    await under.stores.grants.create(GRANT, DAY);
    await under.advance(DAY);
    expect(await under.stores.grants.get('grant-1')).toBeNull();
  });

  test('extends the life of a grant and never shortens it', async () => {
    await using under = await create();
    const { grants } = under.stores;
    await grants.create(GRANT, 2 * DAY);
    await grants.use('grant-1', USED_AT, DAY);
    await under.advance(DAY);
    expect(await grants.get('grant-1')).not.toBeNull();
    await grants.use('grant-1', USED_AT, 3 * DAY);
    await under.advance(3 * DAY - MOMENT_SECONDS);
    expect(await grants.get('grant-1')).not.toBeNull();
    await under.advance(MOMENT_SECONDS);
    expect(await grants.get('grant-1')).toBeNull();
  });

  test('knows when a grant was last used', async () => {
    await using under = await create();
    const { grants } = under.stores;
    await grants.create(GRANT, DAY);
    await grants.use('grant-1', USED_AT, DAY);
    expect(await grants.get('grant-1')).toEqual({ ...GRANT, usedAt: USED_AT });
  });

  test('forgets a revoked grant even if it is extended later', async () => {
    await using under = await create();
    const { grants } = under.stores;
    await grants.create(GRANT, DAY);
    await grants.revoke('grant-1');
    expect(await grants.get('grant-1')).toBeNull();
    await grants.use('grant-1', USED_AT, DAY);
    expect(await grants.get('grant-1')).toBeNull();
  });

  test('stays revoked when a code was reused before its redemption made the grant', async () => {
    await using under = await create();
    const { grants } = under.stores;
    await grants.revoke('grant-1');
    await grants.create(GRANT, DAY);
    expect(await grants.get('grant-1')).toBeNull();
  });
});

describe.each(STORE_IMPLEMENTATIONS)('revoked token store in $name', ({ create }) => {
  test('knows a revoked token and no different one', async () => {
    await using under = await create();
    const { revokedTokens } = under.stores;
    await revokedTokens.revoke('jti-1', 60, 'grant-1');
    expect(await revokedTokens.isRevoked('jti-1')).toBe(true);
    expect(await revokedTokens.isRevoked('jti-2')).toBe(false);
  });

  test('remembers the revocation for as long as the token would live', async () => {
    await using under = await create();
    const { revokedTokens } = under.stores;
    await revokedTokens.revoke('jti-1', 60, 'grant-1');
    await under.advance(60 - MOMENT_SECONDS);
    expect(await revokedTokens.isRevoked('jti-1')).toBe(true);
    await under.advance(MOMENT_SECONDS);
    expect(await revokedTokens.isRevoked('jti-1')).toBe(false);
  });
});
