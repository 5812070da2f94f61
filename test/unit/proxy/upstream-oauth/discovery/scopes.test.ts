import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import {
  RESOURCE_METADATA,
  SERVER_METADATA,
  startUpstreamSite,
  status,
  type UpstreamSite,
} from '../../../../support/upstream-oauth/upstream-site.ts';

const ENDPOINT = 'mcp.example/tools/mcp';

let site: UpstreamSite;

beforeEach(async () => {
  site = await startUpstreamSite();
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

/** Where scopes can come from. */
interface Sources {
  readonly configured?: readonly string[];
  /** Value of `WWW-Authenticate`. */
  readonly challenge?: string;
  /** Of the metadata of the upstream. */
  readonly resource?: readonly string[];
  /** Those that the authorization server lists. */
  readonly server?: readonly string[];
}

describe('scopes', () => {
  test.each<[string, Sources, readonly string[]]>([
    [
      'configured ones before all others',
      { configured: ['a'], challenge: 'Bearer scope="b"', resource: ['c'] },
      ['a'],
    ],
    [
      'those of the challenge before those of the metadata',
      { challenge: 'Bearer scope="b  d"', resource: ['c'] },
      ['b', 'd'],
    ],
    ['those of the metadata', { resource: ['c'] }, ['c']],
    [
      'those of the metadata if the challenge has none',
      { challenge: 'Bearer scope=""', resource: ['c'] },
      ['c'],
    ],
    ['none', {}, []],
    ['none, and not offline_access alone', { server: ['offline_access'] }, []],
    [
      'offline_access too where it is listed',
      { resource: ['c'], server: ['offline_access'] },
      ['c', 'offline_access'],
    ],
    [
      'no offline_access where it is not listed',
      { resource: ['c', 'offline_access'], server: ['c'] },
      ['c'],
    ],
    [
      'configured ones as they are',
      { configured: ['offline_access'], server: ['c'] },
      ['offline_access'],
    ],
    ['none that are malformed', { resource: ['c', 'd e', 'f"', ''] }, ['c']],
  ])('are %s', async (_title, { configured, challenge = 'Bearer', resource, server }, expected) => {
    if (configured !== undefined) site.oauth = { ...site.oauth, scopes: configured };
    site.pages.set(ENDPOINT, status(401, { 'www-authenticate': challenge }));
    site.change(RESOURCE_METADATA, { scopes_supported: resource });
    site.change(SERVER_METADATA, { scopes_supported: server });
    expect((await site.discover()).scopes).toEqual(expected);
  });

  test('are not more than any upstream needs', async () => {
    const many = Array.from({ length: 20_000 }, (_value, index) => `s${String(index)}`);
    site.change(RESOURCE_METADATA, { scopes_supported: ['x'.repeat(201), ...many] });
    const { scopes } = await site.discover({ moreScopes: ['admin'] });
    expect(scopes).toEqual([...many.slice(0, 50), 'admin']);
  });

  test('that a user needs besides are added', async () => {
    expect((await site.discover({ moreScopes: ['admin', 'read'] })).scopes).toEqual([
      'read',
      'write',
      'admin',
    ]);
    site.oauth = { ...site.oauth, scopes: ['a'] };
    expect((await site.discover({ moreScopes: ['admin'] })).scopes).toEqual(['a', 'admin']);
  });
});
