import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { keepRedisSecret } from '../../../../cli/secrets/keep-redis-secret.ts';
import { storedData } from '../../../../cli/secrets/stored-secret.ts';
import { SECRETS } from '../../../../controller/kubernetes/resource-types.ts';
import { MemoryApi } from '../../../support/kubernetes/memory-api.ts';

const DOCUMENT = join(import.meta.dirname, '../../../../docs/redis.md');
const PLACE = { namespace: 'gatehouse-proxy', name: 'gatehouse-redis' };

describe('keepRedisSecret', () => {
  let api: MemoryApi;
  beforeEach(() => {
    api = new MemoryApi();
  });

  const content = (key: string): string =>
    Buffer.from(storedData(api.read(SECRETS, PLACE)).get(key) ?? '', 'base64').toString();

  test('makes a user with a password and few rights, and the URL for proxies', async () => {
    await keepRedisSecret(api, PLACE, 'redis.example:6379');

    const password = content('password');
    expect(password).toMatch(/^[-_0-9A-Za-z]{32}$/);
    expect(content('url')).toBe(`redis://gatehouse:${password}@redis.example:6379`);
    expect(content('redis.conf')).toContain('user default off\n');
    expect(content('redis.conf')).toContain(`user gatehouse on >${password} ~gatehouse:* `);
  });

  test('gives the user the rights that docs/redis.md lists', async () => {
    const documented = /user gatehouse on >PASSWORD (.*)/.exec(readFileSync(DOCUMENT, 'utf8'))?.[1];
    await keepRedisSecret(api, PLACE, 'redis.example:6379');

    expect(content('redis.conf').split('\n')[1]).toBe(
      `user gatehouse on >${content('password')} ${String(documented)}`,
    );
  });

  test('keeps the password, also when the address changes', async () => {
    await keepRedisSecret(api, PLACE, 'redis.example:6379');
    const password = content('password');

    expect(await keepRedisSecret(api, PLACE, 'redis.example:6379')).toEqual([]);
    await keepRedisSecret(api, PLACE, 'other.example:6379');

    expect(content('password')).toBe(password);
    expect(content('url')).toBe(`redis://gatehouse:${password}@other.example:6379`);
  });
});
