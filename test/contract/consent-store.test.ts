import { describe, expect, test } from '@jest/globals';

import type { ConsentKey } from '../../proxy/records/consent-key.ts';
import { STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const DAY = 86_400;

const KEY: ConsentKey = {
  provider: 'corp',
  providerIssuer: 'https://idp.example.com',
  subject: 'u-1',
  issuer: 'https://mcp.example.com',
  clientId: 'client-1',
  redirectUri: 'https://app.example.com/callback',
  resource: 'https://mcp.example.com/',
  scopes: ['mcp', 'offline_access'],
};

describe.each(STORE_IMPLEMENTATIONS)('consent store in $name', ({ create }) => {
  test('remembers a consent', async () => {
    await using under = await create();
    const { consents } = under.stores;
    expect(await consents.isRemembered(KEY, 'metadata-1')).toBe(false);
    await consents.remember(KEY, 'metadata-1', DAY);
    expect(await consents.isRemembered({ ...KEY }, 'metadata-1')).toBe(true);
  });

  test.each<Partial<ConsentKey>>([
    { provider: 'other' },
    { providerIssuer: 'https://idp.example.com/' },
    { providerIssuer: undefined },
    { subject: 'u-2' },
    { issuer: 'https://other.example.com' },
    { clientId: 'client-2' },
    { redirectUri: 'https://app.example.com/other' },
    { resource: 'https://mcp.example.com/b' },
    { scopes: ['mcp'] },
    { scopes: ['mcp offline_access'] },
    { scopes: [] },
  ])('does not know a consent that differs in %j', async (change) => {
    await using under = await create();
    const { consents } = under.stores;
    await consents.remember(KEY, 'metadata-1', DAY);
    expect(await consents.isRemembered({ ...KEY, ...change }, 'metadata-1')).toBe(false);
  });

  test('does not know a consent for different client metadata', async () => {
    await using under = await create();
    const { consents } = under.stores;
    await consents.remember(KEY, 'metadata-1', DAY);
    expect(await consents.isRemembered(KEY, 'metadata-2')).toBe(false);
  });

  test('forgets a consent after its lifetime', async () => {
    await using under = await create();
    const { consents } = under.stores;
    await consents.remember(KEY, 'metadata-1', DAY);
    await under.advance(DAY);
    expect(await consents.isRemembered(KEY, 'metadata-1')).toBe(false);
  });

  test('forgets one consent, and no other', async () => {
    await using under = await create();
    const { consents } = under.stores;
    const other = { ...KEY, clientId: 'client-2' };
    await consents.remember(KEY, 'metadata-1', DAY);
    await consents.remember(other, 'metadata-1', DAY);
    await consents.forget({ ...KEY });
    expect(await consents.isRemembered(KEY, 'metadata-1')).toBe(false);
    expect(await consents.isRemembered(other, 'metadata-1')).toBe(true);
  });
});
