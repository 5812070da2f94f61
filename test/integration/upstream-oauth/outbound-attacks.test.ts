import { describe, expect, test } from '@jest/globals';

import { disposeAfterEach } from '../../support/dispose-after-each.ts';
import {
  ATTACKER,
  INSIDE,
  startAttackWorld,
  type AttackWorld,
} from '../../support/upstream-oauth/attack-world.ts';
import type { ScriptedEndpoint } from '../../support/upstream-oauth/scripted-authorization-server.ts';
import { redirects, sendsBytes, sendsMembers } from '../../support/upstream-oauth/scripts.ts';

const opened = disposeAfterEach();
const MUCH = 1024 * 1024;

/** URLs that lead inside, or where no request may go. */
const FORBIDDEN: readonly (readonly [name: string, url: (port: string) => string])[] = [
  ['a loopback address', (port) => `https://${INSIDE}:${port}`],
  ['a private address', () => 'https://10.0.0.1'],
  ['the metadata service of a cloud', () => 'https://169.254.169.254'],
  ['loopback of IPv6', (port) => `https://[::1]:${port}`],
  ['loopback mapped into IPv6', (port) => `https://[::ffff:127.0.0.2]:${port}`],
  ['a private address behind NAT64', () => 'https://[64:ff9b::a00:1]'],
  ['an address as a number', (port) => `https://2130706434:${port}`],
  ['a name that is at a private address', (port) => `https://inside.attack.test:${port}`],
  ['a name with one private address', (port) => `https://mixed.attack.test:${port}`],
  ['http', (port) => `http://${ATTACKER}:${port}`],
  ['a file', () => 'file:///etc'],
  ['a name before an address', (port) => `https://${ATTACKER}@${INSIDE}:${port}`],
];

/** Where metadata can have a URL that the gateway asks, and what the log calls it. */
const PLACES: readonly (readonly [
  step: string,
  endpoint: ScriptedEndpoint,
  members: (base: string) => object,
])[] = [
  ['server-metadata', 'resourceMetadata', (base) => ({ authorization_servers: [base] })],
  ['token', 'metadata', (base) => ({ token_endpoint: `${base}/token` })],
  ['registration', 'metadata', (base) => ({ registration_endpoint: `${base}/reg` })],
];

async function startWorld(): Promise<AttackWorld> {
  const world = opened(await startAttackWorld());
  world.addresses.set('inside.attack.test', [['10.0.0.1']]);
  world.addresses.set('mixed.attack.test', [['127.0.0.1', INSIDE]]);
  return world;
}

test('a user is connected to an upstream that lies about nothing', async () => {
  const world = await startWorld();
  expect(await world.connect()).toEqual({
    error: null,
    calls: [
      'challenge status-401',
      'resource-metadata status-200',
      'server-metadata status-200',
      'registration status-201',
      'token status-200',
    ],
  });
});

describe.each(PLACES)('metadata do not lead the step %s', (step, endpoint, members) => {
  test.each(FORBIDDEN)('to %s', async (_name, url) => {
    const world = await startWorld();
    world.server.script(endpoint, sendsMembers({ ...members(url(world.port)) }));
    const { error, calls } = await world.connect();
    expect(error).toBe('configuration_error');
    expect(calls.join()).not.toContain(`${step} status`);
    expect(world.connectionsInside()).toBe(0);
  });
});

test.each(FORBIDDEN)('the metadata in a challenge are not fetched at %s', async (_name, url) => {
  const world = await startWorld();
  const location = `${url(world.port)}/.well-known/oauth-protected-resource/mcp`;
  world.server.script('mcp', () => ({
    status: 401,
    headers: { 'www-authenticate': `Bearer resource_metadata="${location}"` },
    body: '',
  }));
  const { error, calls } = await world.connect();
  // The well-known places are next.
  expect({ error, calls: calls.slice(0, 3) }).toEqual({
    error: null,
    calls: [
      'challenge status-401',
      expect.stringMatching(/^resource-metadata refused-/),
      'resource-metadata status-200',
    ],
  });
  expect(world.connectionsInside()).toBe(0);
});

describe('a redirect is not followed', () => {
  test.each<[ScriptedEndpoint, string | null]>([
    // No challenge: the well-known places are next.
    ['mcp', null],
    ['resourceMetadata', 'configuration_error'],
    ['metadata', 'configuration_error'],
    ['registration', 'configuration_error'],
    ['token', 'temporarily_unavailable'],
  ])('from %s', async (endpoint, outcome) => {
    const world = await startWorld();
    world.server.script(endpoint, redirects(`https://${INSIDE}:${world.port}/`, 307));
    const { error, calls } = await world.connect();
    expect(error).toBe(outcome);
    expect(calls.join()).toContain('status-307');
    expect(world.connectionsInside()).toBe(0);
  });
});

test('a name is looked up once for each request, and only a checked address is asked', async () => {
  const world = await startWorld();
  world.addresses.set(ATTACKER, [['127.0.0.1'], [INSIDE]]);
  const { calls } = await world.connect();
  expect(calls.slice(0, 2)).toEqual(['challenge status-401', 'resource-metadata refused-address']);
  expect(world.lookUps.get(ATTACKER)).toBe(calls.length);
  expect(world.connectionsInside()).toBe(0);
});

describe('a response that is too long is not read', () => {
  test.each<ScriptedEndpoint>(['resourceMetadata', 'metadata', 'registration', 'token'])(
    'from %s',
    async (endpoint) => {
      const world = await startWorld();
      world.server.script(endpoint, sendsBytes(MUCH));
      const { error, calls } = await world.connect();
      expect(error).not.toBeNull();
      expect(calls.join()).toContain('failed-too-large');
    },
  );
});
