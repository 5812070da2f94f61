import { describe, expect } from '@jest/globals';

import {
  EVERY_FIELD,
  LIST,
  openAuthorizationLog,
  POLICY,
  toolCall,
  withoutFrame,
} from '../../support/authorization-log-world.ts';
import { send } from '../../support/http-client.ts';
import { callMcp, mcpHeaders, signInClient } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openAuthorizationLog();

describe('The authorization log', () => {
  verifies('log.record', 'every checked request has one record, whatever its outcome', async () => {
    await world().serve(POLICY, EVERY_FIELD);
    await world().client.browser.open(world().web);
    world().forgetRecords();
    const ids = [
      (await world().call(LIST)).headers,
      (await world().call(toolCall('echo'))).headers,
      (await world().call(toolCall('delete_all'))).headers,
      (await world().call({ jsonrpc: '2.0', method: 'notifications/initialized' })).headers,
      (await send(world().mcp, { headers: mcpHeaders(world().client.accessToken) })).headers,
      (
        await send(world().mcp, {
          method: 'DELETE',
          headers: { ...mcpHeaders(world().client.accessToken), 'mcp-session-id': 'session-1' },
        })
      ).headers,
      (await world().client.browser.open(`${world().web}/a`)).headers,
      (await send(world().open)).headers,
    ].map((headers) => headers['x-request-id']);
    expect(
      world()
        .records()
        .map((fields) => fields['request-id']),
    ).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  verifies('log.record', 'the record of a request without a user names no user', async () => {
    await world().serve(POLICY, EVERY_FIELD);
    await send(world().open);
    expect(withoutFrame(world().record())).toEqual({
      'request-id': expect.any(String),
      ...{ allow: true, 'allow-why-true': ['accept'] },
      ...{ deny: false, 'deny-why-false': [] },
    });
  });

  verifies('log.record', 'a request that is refused before the check has no record', async () => {
    await world().serve(POLICY, EVERY_FIELD);
    await send(world().mcp, { method: 'POST', body: '{}' });
    await world().call('not JSON');
    await world().call('x'.repeat(1001));
    await send(world().mcp, { method: 'PUT', headers: mcpHeaders(world().client.accessToken) });
    await send(world().web);
    await send(`${world().web}/.gateway/nothing`);
    await send(`${world().mcp}/.well-known/oauth-protected-resource`);
    await send(world().users.originOf('nobody'));
    expect(world().records()).toEqual([]);
  });
});

verifies('log.record', 'the log contains no token, code, cookie or secret', async () => {
  await world().serve(POLICY, EVERY_FIELD);
  const { accessToken, refreshToken, browser } = await signInClient(world().mcp);
  await callMcp(world().mcp, accessToken, LIST);
  await callMcp(world().mcp, `${accessToken}x`, LIST);
  await browser.open(`${world().mcp}/.gateway/callback?code=the-code&state=the-state`);
  const log = JSON.stringify(world().users.gateway.logs());
  expect(log).toContain('authorize check');
  const secrets = [accessToken, refreshToken, 'the-code', 'the-state'];
  secrets.push(
    world().users.identityProvider.clientSecret,
    ...browser.cookies.map(({ value }) => value),
  );
  for (const secret of secrets) expect(log).not.toContain(secret);
});
