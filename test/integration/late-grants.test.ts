import { PassThrough } from 'node:stream';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { readArguments } from '../../cli/arguments.ts';
import { CLIENTS_REVOKE_LINE } from '../../cli/commands/clients/clients-flags.ts';
import { readStateFlags } from '../../cli/flags/state-flags.ts';
import { endClients, findClients } from '../../cli/sessions/end-clients.ts';
import { withOperatorState } from '../../cli/sessions/open-operator-state.ts';
import { openOperatorAudit } from '../../cli/sessions/operator.ts';
import { eventually } from '../support/eventually.ts';
import { startFleet, type GatewayFleet } from '../support/gateway-fleet.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import { callMcp, signInClient } from '../support/signed-in-client.ts';

const PING = { jsonrpc: '2.0', id: 7, method: 'ping' };

describeWithRedis('an operator who ends a client', () => {
  const started = new AsyncDisposableStack();
  let redis: TestRedis;
  let fleet: GatewayFleet;
  beforeAll(async () => {
    redis = started.use(await startRedis());
    fleet = started.use(await startFleet({ redisUrls: [redis.url] }));
  });
  afterAll(() => started.disposeAsync());

  test('ends the grants too that it got while the question was open', async () => {
    const { clientId, accessToken } = await signInClient(fleet.mcpUrl, { login: 'alice' });
    const flags = readArguments(CLIENTS_REVOKE_LINE, [clientId], {
      GATEHOUSE_REDIS_URL: redis.url,
      GATEHOUSE_SEALING_KEYS_DIR: fleet.sealingKeysDirectory,
    });
    const output = new PassThrough();
    const audit = openOperatorAudit(flags, { environment: {}, stdout: output, stderr: output });
    await withOperatorState(readStateFlags(flags), async (state) => {
      const found = await findClients([clientId], state, {});
      await endClients({ ...found, grants: [] }, state, audit);
    });
    await audit.end();

    const isRefused = async (): Promise<boolean> =>
      (await callMcp(fleet.mcpUrl, accessToken, PING)).status === 401;
    await eventually('the token is refused', isRefused);
    expect(await isRefused()).toBe(true);
  });
});
