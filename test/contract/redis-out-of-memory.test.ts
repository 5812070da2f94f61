import { expect, test } from '@jest/globals';

import { createRedisStores } from '../../proxy/store/redis/stores/redis-stores.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { aGrant, AN_INTERNAL_TOKEN, anInternalTokenKey, aSession } from './redis-records.ts';
import { connectionTo, sealerWith } from './redis-stores-under-test.ts';
import { aToken } from './refresh-tokens.ts';

const DAY = 86_400;

/** Less than any Redis takes: no command that needs memory is run. */
const NO_MEMORY = '1mb';

describeWithRedis('a Redis without free memory', () => {
  test('still revokes grants, sessions and families of refresh tokens, and drops internal tokens', async () => {
    await using redis = await startRedis();
    await using connection = await connectionTo(redis.url);
    const stores = createRedisStores(connection, sealerWith('a'));
    const { grants, internalTokens, refreshTokens, sessions } = stores;
    await grants.create(aGrant('grant-1'), DAY);
    await refreshTokens.save(aToken('token'), DAY);
    await sessions.create(aSession('session-1', redis.now()));
    const disconnected = anInternalTokenKey('route-1');
    const refused = anInternalTokenKey('route-2');
    await internalTokens.save(disconnected, AN_INTERNAL_TOKEN);
    await internalTokens.save(refused, AN_INTERNAL_TOKEN);
    await redis.send('CONFIG', 'SET', 'maxmemory', NO_MEMORY);

    await expect(grants.create(aGrant('grant-2'), DAY)).rejects.toMatchObject({ status: 503 });
    await grants.revoke('grant-1');
    await refreshTokens.revokeFamily('grant-1');
    await sessions.revoke('session-1');
    expect(await internalTokens.drop(disconnected)).toBe(true);
    const version = (await internalTokens.get(refused))?.version;
    expect(await internalTokens.drop(refused, version)).toBe(true);

    await redis.send('CONFIG', 'SET', 'maxmemory', 0);
    await grants.create(aGrant('grant-1'), DAY);
    await refreshTokens.save(aToken('late'), DAY);
    expect(await grants.get('grant-1')).toBeNull();
    expect(await refreshTokens.stateOf(aToken('token'))).toBeNull();
    expect(await refreshTokens.stateOf(aToken('late'))).toBeNull();
    expect(await sessions.get('session-1')).toBeNull();
  });
});
